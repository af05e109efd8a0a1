// What is done with whole config stores: merging, comparing, checking, clearing out.
#pragma once

#include <string>
#include <vector>

#include "configs/config_store.h"

namespace redtune {

struct MergeReport {
  std::size_t added = 0, replaced = 0, kept = 0;  // entries: new; better than what was there; not better
};

/// Takes everything of the store `from` into `into`: of two measurements of one key the better stays, an entry that only
/// one of them has stays in any case, and the kernels come along. Safe beside any number of other writers. Throws
/// UserError for a file of `from` or `into` that is no config file, and for a damaged kernel; what was merged by then
/// stays merged.
MergeReport merge_store(const std::string& from, const std::string& into);

/// Everything that is wrong with a store, one line each, naming file and field: files that do not fit the schema, entries
/// under the wrong name, one key twice, kernels that are missing or damaged. Throws UserError when there is no store.
std::vector<std::string> check_store(const std::string& directory);

struct PruneReport {
  std::vector<std::string> removed;  // files, below the store
  std::size_t bytes = 0;
};

/// Removes what nothing refers to: kernel files that no entry names, and temporary files of writers that died. Only what
/// is older than `least_age_seconds` goes: a younger kernel may be one whose config is about to be written.
/// `dry_run`: only says what would go. Refuses (UserError) a store with a file that it cannot read.
PruneReport prune_store(const std::string& directory, double least_age_seconds, bool dry_run);

struct StoreDifference {
  enum class Kind : std::uint8_t { kOnlyLeft, kOnlyRight, kChanged };
  Kind kind;
  Config left, right;  // of one key; one is empty unless kChanged
};

/// By device and key. Two entries are equal when schedule, text and time are.
std::vector<StoreDifference> diff_stores(const std::string& left, const std::string& right);
/// One line per difference, for people: "+ KEY  229 us  SCHEDULE  on DEVICE", "- ...", "~ KEY  305 us -> 229 us (1.33x
/// as fast)  SCHEDULE -> SCHEDULE".
std::string diff_text(const std::vector<StoreDifference>& differences);

}  // namespace redtune
