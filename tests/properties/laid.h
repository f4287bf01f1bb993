#ifndef TESTS_PROPERTIES_LAID_H
#define TESTS_PROPERTIES_LAID_H

/* Frees the memory of the case that ends. */
void case_memory_free(void);

#endif
