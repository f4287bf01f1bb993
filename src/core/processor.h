#ifndef CORE_PROCESSOR_H
#define CORE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/* The processor's model as it names itself, or its architecture where it does not. */
void processor_name(char *name, size_t bytes);

/* Cores that the system has. */
int32_t processor_cores(void);

#endif
