# Writes one function for each wgmma instruction, because its operand list is as long as the tile is wide.
# Usage: cmake -DOUT=file -P wgmma_operands.cmake
set(text "// Written by kernels/ptx/wgmma_operands.cmake; included by kernels/ptx/wgmma.cuh.\n")
foreach(type f16 bf16)
  foreach(width RANGE 16 256 16)
    math(EXPR sums "${width} / 2")
    math(EXPR last "${sums} - 1")
    set(registers "")
    set(operands "")
    foreach(i RANGE ${last})
      list(APPEND registers "%${i}")
      list(APPEND operands "\"+f\"(d[${i}])")
    endforeach()
    list(JOIN registers ", " registers)
    list(JOIN operands ", " operands)
    foreach(i RANGE 3)  # ai: the i-th operand after the sums
      math(EXPR a${i} "${sums} + ${i}")
    endforeach()
    set(op "wgmma.mma_async.sync.aligned.m64n${width}k16.f32.${type}.${type} {${registers}}")
    string(APPEND text "
template <int kTransposeX, int kTransposeY>
__device__ __forceinline__ void wgmma(Of<DataType::${type}, ${width}>, float (&d)[128], uint64_t x, uint64_t y) {
  asm volatile(\"${op}, %${a0}, %${a1}, 1, 1, 1, %${a2}, %${a3};\"
    : ${operands} : \"l\"(x), \"l\"(y), \"n\"(kTransposeX), \"n\"(kTransposeY));
}
")
  endforeach()
endforeach()
file(WRITE "${OUT}" "${text}")
