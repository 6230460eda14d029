/* SPDX-License-Identifier: MIT */
/* Texts in JSON, and JSON as text; see json.h. */
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "views/json.h"

/* Names come from files and file systems: JSON must be UTF-8 all the same. */
void report_json_text(cJSON *o, const char *key, const char *text)
{
    if (!text) {
        cJSON_AddNullToObject(o, key);
        return;
    }
    char *clean = strdup(text);
    base_clean_utf8(clean);
    cJSON_AddStringToObject(o, key, clean);
    free(clean);
}

cJSON *report_json_object(cJSON *array)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddItemToArray(array, o);
    return o;
}

char *report_json_quoted(const char *text)
{
    cJSON *o = cJSON_CreateObject();

    report_json_text(o, "t", text);
    char *printed = cJSON_PrintUnformatted(cJSON_GetObjectItem(o, "t"));
    cJSON_Delete(o);
    return printed;
}

void report_json_write(cJSON *root, FILE *out)
{
    char *text = cJSON_Print(root);

    cJSON_Delete(root);
    fprintf(out, "%s\n", text);
    free(text);
}
