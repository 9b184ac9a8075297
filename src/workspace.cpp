#include "src/workspace.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace skgemm {

WorkspaceRegion carve(void* workspace, size_t bytes) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(workspace);
  const size_t skip = (kWorkspaceAlignment - address % kWorkspaceAlignment) % kWorkspaceAlignment;
  if (workspace == nullptr || bytes < skip + kCounterBytes) return {};
  return {static_cast<char*>(workspace) + skip, bytes - skip};
}

WorkspaceLease& WorkspaceLease::operator=(WorkspaceLease&& other) noexcept {
  if (this == &other) return *this;
  if (pool_ != nullptr) pool_->finish(*this);
  region_ = std::exchange(other.region_, {});
  pool_ = std::exchange(other.pool_, nullptr);
  stream_ = other.stream_;
  owner_ = std::exchange(other.owner_, nullptr);
  lock_ = std::move(other.lock_);
  return *this;
}

WorkspaceLease::~WorkspaceLease() {
  if (pool_ != nullptr) pool_->finish(*this);
}

WorkspaceLease WorkspacePool::lease(const StreamState& stream, size_t bytes) {
  WorkspaceLease lease;
  std::unique_lock lock(mutex_);
  take_back();
  ++leases_;
  if (stream.graph == nullptr) {
    StreamRegion* owner = region_of_stream(stream, bytes);
    if (owner == nullptr) return lease;
    owner->used = leases_;
    lease.region_ = owner->region;
    lease.owner_ = owner;
  } else {
    CapturedRegion* owner = region_of_capture(stream, bytes);
    if (owner == nullptr) return lease;
    lease.region_ = owner->region;
    lease.owner_ = owner;
  }
  lease.pool_ = this;
  lease.stream_ = stream;
  lease.lock_ = std::move(lock);
  return lease;
}

// Called with the lock that the lease holds, when its launches are in the stream.
void WorkspacePool::finish(const WorkspaceLease& lease) {
  if (lease.stream_.graph != nullptr) {
    static_cast<CapturedRegion*>(lease.owner_)->last = memory_.tail(lease.stream_);
  } else if (marking_) {
    auto* owner = static_cast<StreamRegion*>(lease.owner_);
    owner->mark = memory_.mark(lease.stream_, owner->mark);
  }
}

WorkspacePool::StreamRegion* WorkspacePool::region_of_stream(const StreamState& stream, size_t bytes) {
  const auto known = streams_.find(stream.id);
  if (known != streams_.end() && known->second.region.bytes >= bytes) return &known->second;

  const WorkspaceRegion region = obtain(stream, bytes);
  if (region.data == nullptr) return nullptr;
  StreamRegion& owner = streams_[stream.id];  // obtain() may have erased others
  if (owner.region.data != nullptr) {
    // Earlier launches in this stream may still use the smaller one. Without a mark nobody can know when they don't.
    CUevent_st* mark = memory_.mark(stream, std::exchange(owner.mark, nullptr));
    if (mark != nullptr) idle_.push_back({owner.region, mark});
  }
  owner.region = region;
  marking_ |= streams_.size() > kStreamsWithoutMarks;
  return &owner;
}

WorkspacePool::CapturedRegion* WorkspacePool::region_of_capture(const StreamState& stream, size_t bytes) {
  for (CapturedRegion& c : captured_) {
    if (c.capture == stream.id && c.region.bytes >= bytes && c.last != nullptr && memory_.follows(stream, c.last))
      return &c;
  }
  const WorkspaceRegion region = obtain(stream, bytes);
  if (region.data == nullptr) return nullptr;
  captured_.push_back({region, stream.id, nullptr, this});
  if (memory_.when_graph_dies(stream, &graph_gone, &captured_.back())) return &captured_.back();
  captured_.pop_back();
  idle_.push_back({region, nullptr});
  return nullptr;
}

void WorkspacePool::graph_gone(void* record) {
  auto* captured = static_cast<CapturedRegion*>(record);
  const std::lock_guard lock(captured->pool->returned_mutex_);
  captured->pool->returned_.push_back(captured);
}

void WorkspacePool::take_back() {
  const std::lock_guard lock(returned_mutex_);
  for (const CapturedRegion* gone : returned_) {
    idle_.push_back({gone->region, nullptr});
    captured_.remove_if([gone](const CapturedRegion& c) { return &c == gone; });
  }
  returned_.clear();
}

// A region nobody uses, its counters zero: given back, taken over from a stream that has gone quiet, or new.
WorkspaceRegion WorkspacePool::obtain(const StreamState& stream, size_t bytes) {
  WorkspaceRegion region = take_idle(bytes);
  if (region.data == nullptr && marking_) region = take_over(bytes);
  if (region.data != nullptr) return region;
  region = allocate(bytes);
  if (region.data == nullptr || memory_.clear(region.data, kCounterBytes, stream)) return region;
  memory_.free(region.data);
  return {};
}

WorkspaceRegion WorkspacePool::take_idle(size_t bytes) {
  Idle* best = nullptr;
  for (Idle& idle : idle_) {
    if (idle.region.bytes < bytes || (best != nullptr && best->region.bytes <= idle.region.bytes)) continue;
    if (idle.mark == nullptr || memory_.passed(idle.mark)) best = &idle;
  }
  if (best == nullptr) return {};
  const WorkspaceRegion region = best->region;
  if (best->mark != nullptr) memory_.forget(best->mark);
  *best = idle_.back();
  idle_.pop_back();
  return region;
}

WorkspaceRegion WorkspacePool::take_over(size_t bytes) {
  auto best = streams_.end();
  for (auto s = streams_.begin(); s != streams_.end(); ++s) {
    const StreamRegion& owner = s->second;
    if (owner.mark == nullptr || owner.region.bytes < bytes) continue;
    if (best != streams_.end() && best->second.used <= owner.used) continue;
    if (memory_.passed(owner.mark)) best = s;
  }
  if (best == streams_.end()) return {};
  const WorkspaceRegion region = best->second.region;
  memory_.forget(best->second.mark);
  streams_.erase(best);
  return region;
}

WorkspaceRegion WorkspacePool::allocate(size_t bytes) {
  if (bytes >= refused_bytes_ && ++refusals_ % kAskAgain != 0) return {};
  // Powers of two: a stream's region grows few times, and one stream's fits another's needs.
  for (const size_t size : {std::bit_ceil(bytes), bytes}) {
    for (const bool after_freeing : {false, true}) {
      if (after_freeing) free_idle();
      if (char* data = memory_.allocate(size)) {
        if (size >= refused_bytes_) refused_bytes_ = SIZE_MAX;
        return {data, size};
      }
    }
  }
  refused_bytes_ = std::min(refused_bytes_, bytes);
  return {};
}

void WorkspacePool::free_idle() {
  std::erase_if(idle_, [this](const Idle& idle) {
    if (idle.mark != nullptr && !memory_.passed(idle.mark)) return false;
    if (idle.mark != nullptr) memory_.forget(idle.mark);
    memory_.free(idle.region.data);
    return true;
  });
}

}  // namespace skgemm
