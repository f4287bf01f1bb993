#ifndef KITH_API_H
#define KITH_API_H

/* Stands before each function of the library, which shows its users these alone. */
#define KITH_API __attribute__((visibility("default")))

#endif
