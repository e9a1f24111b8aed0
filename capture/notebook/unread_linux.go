package notebook

import "golang.org/x/sys/unix"

// fionread is called so in C; Linux has both names for one number.
const fionread = unix.TIOCINQ
