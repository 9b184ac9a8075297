// What the CUDA runtime says of a device, as the selector wants it. Its own file: the tool, which is not linked to the
// inside of the library, uses it too.
#pragma once
#include "heuristics/device_model.h"

namespace skgemm::gpu {

DeviceModel look_at(int device);

}  // namespace skgemm::gpu
