#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

constexpr Verb kVerbs[] = {
    {"tune", "search for the best schedule of operators on a device",
     "  redtune tune --op sum --shape 1024x1024 --axes 1\n"
     "  redtune tune softmax_sum.json --trials 200 --seed 7\n"
     "  redtune tune --op sum --shape 4096x4096 --time 60s --mapping hybrid --json\n",
     declare_tune},
    {"space", "count and list the legal schedules of an operator, or say why one is not legal",
     "  redtune space --op sum --shape 1024x1024 --axes 1 --target sm_90\n"
     "  redtune space --op max --shape 4096x64 --axes 0 --list 5 --mapping tree\n"
     "  redtune space --op sum --shape 1048576 --why \"block=tree rx=100\"\n",
     declare_space},
    {"show", "the way from an operator to kernel text: canonical form, isl sets, schedule tree, kernel",
     "  redtune show --op sum --shape 1024x1024 --axes 1\n"
     "  redtune show --op sum --shape 1024x1024 --axes 1 --target sm_90 --schedule \"block=warp rx=32\"\n",
     declare_show},
    {"run", "compute an operator once on a device and check the answer",
     "  redtune run case.json --json\n"
     "  redtune run --op sum --shape 64x64 --axes 1 --input X=x.npy --output out=sums.npy\n"
     "  redtune run --op sum --shape 1048576 --mapping atomic\n",
     declare_run},
    {"verify", "run schedules of every mapping on random and adversarial inputs and check every answer",
     "  redtune verify --op sum --shape 33x49 --axes 1\n"
     "  redtune verify case.json --all-schedules --mapping atomic\n"
     "  redtune verify --op max --shape 257x65 --axes 0 --sample 16 --oclgrind --races\n",
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
     "  redtune replay redtune-out/sum-f32-1024-1024-axes-1.jsonl\n"
     "  redtune replay convolution_A100.json.gz dedispersion_T4.json --strategy bayes,random --repeats 100\n",
     declare_replay},
    {"best", "the best schedules that the config store holds",
     "  redtune best\n"
     "  redtune best --op sum --shape 1024x1024 --axes 1 --json\n",
     declare_best},
    {"devices", "the devices that are present", "  redtune devices --json\n", declare_devices},
    {"targets", "the targets that redtune knows, for work without the device", "  redtune targets\n",
     declare_targets},
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
