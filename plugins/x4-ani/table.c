#include "x4-ani/x4.h"

#include "names.h"

bool kfi_x4_table_init(kf_job *job, x4_table *table, size_t most)
{
    size_t capacity = 4;
    while (capacity / 2 < most)
        capacity *= 2;
    table->entries = kfi_alloc(job, capacity, sizeof *table->entries);
    table->mask = capacity - 1;
    return table->entries != NULL;
}

x4_entry *kfi_x4_table_at(x4_table *table, const void *text, size_t size, uint32_t number, bool *found)
{
    uint64_t hash = kfi_hash(text, size) ^ (number * UINT64_C(0x9e3779b97f4a7c15));
    size_t at = (size_t)(hash ^ hash >> 29) & table->mask;
    while (table->entries[at].taken) {
        x4_entry *entry = &table->entries[at];
        if (entry->size == size && entry->number == number && memcmp(entry->text, text, size) == 0) {
            *found = true;
            return entry;
        }
        at = (at + 1) & table->mask;
    }
    table->entries[at] = (x4_entry){.text = text, .size = (uint32_t)size, .number = number, .taken = true};
    *found = false;
    return &table->entries[at];
}
