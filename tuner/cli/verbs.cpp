#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

constexpr Verb kVerbs[] = {
    {"tune", "search for the best schedule of operators on a device",
     "  redtune tune --op sum --shape 1024x1024 --axes 1\n"
     "  redtune tune first.json second.json --trials 200 --seed 7\n"
     "  redtune tune --op sum --shape 4096x4096 --time 60s --mapping hybrid --json\n",
     declare_tune},
    {"space", "count and list the legal schedules of an operator, or say why one is not legal",
     "  redtune space --op sum --shape 1024x1024 --axes 1 --target sm_90\n"
     "  redtune space --op max --shape 4096x64 --axes 0 --list 5 --mapping tree\n"
     "  redtune space --op sum --shape 1048576 --why \"block=tree rx=100\"\n",
     declare_space},
    {"show", "the way from an operator to kernel text: canonical form, isl sets, schedule tree, kernel",
     "  redtune show --op sum --shape 1024x1024 --axes 1\n"
     "  redtune show --op sum --shape 1024x1024 --axes 1 --target sm_90 --schedule \"block=warp rx=32\"\n"
     "  redtune show --op sum --shape 1024x1024 --axes 1 --target sm_90 --kernel --prelude > kernel.cu\n",
     declare_show},
    {"run", "compute an operator once on a device and check the answer",
     "  redtune run case.json --json\n"
     "  redtune run --op sum --shape 64x64 --axes 1 --input x.npy --output sums.npy\n"
     "  redtune run --op sum --shape 1048576 --mapping atomic\n",
     declare_run},
    {"verify", "run schedules of every mapping on random and adversarial inputs and check every answer",
     "  redtune verify --op sum --shape 33x49 --axes 1\n"
     "  redtune verify case.json --all-schedules --mapping atomic\n"
     "  redtune verify --op max --shape 257x65 --axes 0 --sample 16 --oclgrind --races\n"
     "  redtune verify --configs redtune-out/configs\n",
     declare_verify},
    {"fuzz", "verify random operators with random schedules",
     "  redtune fuzz --seconds 5m --seed 7\n"
     "  redtune fuzz --cases 20000 --oclgrind\n",
     declare_fuzz},
    {"compile", "compile many kernels of an operator for CUDA architectures; needs NVRTC, no GPU",
     "  redtune compile --op sum --shape 1024x1024 --axes 1 --target sm_80,sm_90\n"
     "  redtune compile --op sum --shape 1048576 --target sm_75 --all --mapping tree\n",
     declare_compile},
    {"import", "read fused sub-graphs of MindSpore networks as operator files",
     "  redtune import Fused_Mul_ReduceSum.info -o operators\n", declare_import},
    {"train", "learn a model of schedules from logs, for `tune --model`",
     "  redtune train redtune-out/*.jsonl -o cpu.model\n"
     "  redtune tune --op sum --shape 4096x4096 --axes 1 --model cpu.model\n",
     declare_train},
    {"replay", "compare search strategies on recorded spaces, without a device",
     "  redtune replay redtune-out/sum-f32-1024-1024-axes-1-f32.jsonl\n"
     "  redtune replay convolution_A100.json.gz dedispersion_T4.json --strategy bayes,random --repeats 100\n",
     declare_replay},
    {"bench", "measure the operators of a suite beside baselines and published times",
     "  redtune bench\n"
     "  redtune bench panamera_single --format md -o table.md\n"
     "  redtune bench network_reductions --only bert_base --trials 16 --baselines default,openmp,onednn\n"
     "  redtune bench my_suite.json --baselines default,best_last_block,best_atomic --format csv\n",
     declare_bench},
    {"report", "logs as one page with charts, or as JSON or CSV",
     "  redtune report redtune-out/sum-f32-1024-1024-axes-1-f32.jsonl -o report.html\n"
     "  redtune report redtune-out/bench/*.jsonl -o report.html\n"
     "  redtune report run.jsonl --format csv\n",
     declare_report},
    {"best", "the best schedules that the config store holds",
     "  redtune best\n"
     "  redtune best --op sum --shape 1024x1024 --axes 1 --json\n",
     declare_best},
    {"configs", "merge, compare, check and clear out config stores",
     "  redtune configs merge redtune-out/configs from-another-machine/configs\n"
     "  redtune configs diff old/configs redtune-out/configs\n"
     "  redtune configs check redtune-out/configs\n"
     "  redtune configs prune redtune-out/configs --dry-run\n",
     declare_configs},
    {"explain", "say why the best schedule of a log won: knobs, runner-up, what the default lost",
     "  redtune explain redtune-out/sum-f32-1024-1024-axes-1-f32.jsonl\n"
     "  redtune explain redtune-out/*.jsonl --json\n",
     declare_explain},
    {"portfolio", "choose the few schedules that serve a range of shapes with the least loss",
     "  redtune portfolio my_suite.json --kernels 4\n"
     "  redtune portfolio cub_sizes --only sum-f32 --kernels 2 --trials 32 --json\n"
     "  redtune portfolio --log redtune-out/*.jsonl --kernels 2 --dry-run\n"
     "  redtune portfolio --log logs/samples/*.jsonl.gz --leave-out --dry-run\n",
     declare_portfolio},
    {"predict", "choose a schedule for a GPU that is not here: by a model and the compiler; needs NVRTC, no GPU",
     "  redtune predict --op sum --shape 1024x1024 --axes 1 --target sm_90\n"
     "  redtune predict --op sum --shape 1048576 --target sm_80,sm_90 --model gpu.model --top 64\n",
     declare_predict},
    {"export", "take tuned kernels elsewhere: bundle, source, cubin, C header, or other tools' formats",
     "  redtune export --op sum --shape 1024x1024 --axes 1 --format bundle -o shipped --target sm_80,sm_90\n"
     "  redtune export --op sum --shape 1048576 --format header --schedule \"block=shuffle grid=atomic rx=256 split=64\" "
     "--target sm_90\n"
     "  redtune export --format wisdom -o wisdom\n"
     "  redtune export --format cachefile --log redtune-out/sum-f32-1024-1024-axes-1-f32.jsonl\n",
     declare_export},
    {"devices", "the devices that are present", "  redtune devices --json\n", declare_devices},
    {"targets", "the targets that redtune knows, for work without the device", "  redtune targets\n",
     declare_targets},
    {"counters",
     "hardware counters that explain a schedule, by the names of the profiler; needs CUPTI, no GPU",
     "  redtune counters --target sm_90\n", declare_counters},
    {"doctor", "what redtune finds on this machine and how to get the rest", "  redtune doctor\n",
     declare_doctor},
    {"version", "version of redtune and of what it is built on", "  redtune version\n", declare_version},
};

std::string& stored_command_line() {
  static std::string text;
  return text;
}

// Quoted so that it can be pasted into a shell.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const std::string& command_line() { return stored_command_line(); }

void set_command_line(int argc, char** argv) {
  std::string text = "redtune";
  for (int i = 1; i < argc; ++i) text += " " + quoted(argv[i]);
  stored_command_line() = text;
}

}  // namespace redtune
