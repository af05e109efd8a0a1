/* usage: consumer_c DIRECTORY     sums 64 rows of 256 ones with the store of the test */
#include <redtune/deploy.h>
#include <stdio.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, redtune_error());
  return 1;
}

int main(int argc, char** argv) {
  static float in[64 * 256];
  float out[64];
  redtune_store* store = 0;
  redtune_operator* op = 0;
  redtune_host* host = 0;
  redtune_answer answer;
  int i;
  for (i = 0; i < 64 * 256; ++i) in[i] = 1.0f;
  if (redtune_store_open(argc > 1 ? argv[1] : "", &store) != REDTUNE_OK) return failed("open");
  if (redtune_operator_parse("{\"op\": \"sum\", \"shape\": [64, 256], \"axes\": [1]}", &op) != REDTUNE_OK)
    return failed("parse");
  if (redtune_host_open(0, &host) != REDTUNE_OK) return failed("host");
  if (redtune_host_run(host, store, op, REDTUNE_EXACT, in, sizeof in, out, sizeof out, &answer) != REDTUNE_OK)
    return failed("run");
  for (i = 0; i < 64; ++i) {
    if (out[i] != 256.0f) return failed("wrong sum");
  }
  printf("64 sums by %s\n", answer.schedule);
  redtune_host_close(host);
  redtune_operator_free(op);
  redtune_store_close(store);
  return 0;
}
