package notebook

// fionread is of sys/filio.h; package unix does not have it.
const fionread = 0x4004667f
