/* SPDX-License-Identifier: MIT */
/* Texts in JSON, and JSON as text; see json.h. */
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "pythia.h"
#include "report/json.h"

/* Names come from files and file systems: JSON must be UTF-8 all the same. */
void report_json_text(cJSON *o, const char *key, const char *text)
{
    char *clean = text ? strdup(text) : NULL;

    if (clean)
        base_clean_utf8(clean);
    if (clean)
        cJSON_AddStringToObject(o, key, clean);
    else
        cJSON_AddNullToObject(o, key);
    free(clean);
}

char *report_json_quoted(const char *text)
{
    cJSON *o = cJSON_CreateObject(), *string;

    report_json_text(o, "t", text);
    string = cJSON_GetObjectItem(o, "t");
    char *printed = string ? cJSON_PrintUnformatted(string) : NULL;
    cJSON_Delete(o);
    return printed;
}

int report_json_write(cJSON *root, FILE *out)
{
    char *text = root ? cJSON_Print(root) : NULL;

    cJSON_Delete(root);
    if (!text)
        return PYTHIA_ENOMEM;
    fprintf(out, "%s\n", text);
    free(text);
    return ferror(out) ? PYTHIA_EIO : 0;
}
