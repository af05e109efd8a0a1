// The kernel that fills a buffer.
#include "codegen/emit.h"
#include "codegen/number_text.h"
#include "codegen/operator_text.h"
#include "codegen/writer.h"

namespace redtune {

std::string emit_fill(DType type, std::uint64_t bits, DType result, std::int64_t outputs, std::int64_t chunk,
                      int threads, const std::string& entry) {
  const std::string word(name(type)), out(name(result));
  Writer w;
  w.open("RT_KERNEL(" + entry + ", " + num(threads) + ", 1)(RT_GLOBAL rt_" + out + "* y)");
  w.line("const rt_acc_" + word + " rt_id = " + constant_text(type, bits) + ";");
  w.line("const rt_index first = (rt_index)RT_BLOCK * " + num(chunk) + ";");
  w.open("for (rt_index i = first + RT_TX; i < RT_MIN(first + " + num(chunk) + ", " + num(outputs) + "); i += " +
         num(threads) + ")");
  w.line("RT_STORE1(" + word + ", " + out + ", y + i, rt_id);");
  w.close();
  w.close();
  return w.take();
}

}  // namespace redtune
