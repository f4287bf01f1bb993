#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

/* Pages of kith help that are about no single command. */
struct topic {
    const char *name, *summary;
    const char *text;     /* cli/topics/NAME.txt */
    char *(*table)(void); /* printed after the text, on the heap; NULL for none */
};

/* Ends with a row of zeros. */
extern const struct topic topics[];

/* The row of a name, or NULL. */
const struct topic *topic_named(const char *name);

#endif
