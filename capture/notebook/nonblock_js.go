package notebook

const nonblock = 0 // a page in a browser has no pipes
