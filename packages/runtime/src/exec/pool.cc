// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "light/error.h"
#include "light/parallel.h"

namespace light {
namespace {

constexpr double kWorthNs = 8000;     // a shorter loop costs less than handing it over
constexpr double kMinChunkNs = 2000;  // a chunk must outweigh its claim and a cold cache
constexpr int kChunksPerThread = 3;   // enough to even out a thread that the system took away
constexpr int kSpin = 4000;           // about 50 to 100 microseconds of pauses
constexpr int kMaxThreads = 1024;
constexpr int kMostShares = 8;  // more would take longer to hand out than they save

// Set while a thread executes a body: a loop inside a loop runs where it is.
thread_local bool t_in_loop = false;

void Pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// A T of this process. A forked child gets a new one and leaks its parent's, whose threads and locks are not there.
template <class T>
class PerProcess {
 public:
  template <class Make>
  T& Get(Make make) {
    Cell* cell = cell_.load(std::memory_order_acquire);
    const pid_t pid = getpid();
    if (cell && cell->pid == pid) return *cell->object;
    auto fresh = std::make_unique<Cell>(Cell{pid, make()});
    if (cell_.compare_exchange_strong(cell, fresh.get(), std::memory_order_acq_rel)) return *fresh.release()->object;
    return *cell->object;
  }
  /// Destroys the object if it is this process's own.
  void Destroy() noexcept {
    Cell* cell = cell_.exchange(nullptr);
    if (!cell || cell->pid != getpid()) return;
    delete cell;
  }
  /// The object if it was made by this process.
  T* Existing() const noexcept {
    Cell* cell = cell_.load(std::memory_order_acquire);
    return cell && cell->pid == getpid() ? cell->object.get() : nullptr;
  }

 private:
  struct Cell {
    pid_t pid;
    std::unique_ptr<T> object;
  };
  std::atomic<Cell*> cell_{nullptr};
};

/// The worker threads and the one loop that they work on. A loop is cut into shares, one per thread, and these into
/// chunks: a thread begins with its own share, which in one loop after another covers what its cache has, and goes on
/// with what others have not begun.
class Crew {
 public:
  explicit Crew(int workers) : wanted_(workers), share_count_(std::min(workers + 1, kMostShares)) {}
  Crew(const Crew&) = delete;
  ~Crew() {
    {
      std::lock_guard lock(mutex_);
      stop_.store(true, std::memory_order_seq_cst);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  bool TryAcquire() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void Release() noexcept { busy_.store(false, std::memory_order_release); }
  void Quiesce() noexcept { quiesced_.fetch_add(1, std::memory_order_relaxed); }

  /// Runs `chunks` pieces of [0, total). The caller holds the crew.
  void RunLoop(int64_t total, int64_t chunks, RangeFn body) {
    if (!started_) Start();
    body_ = &body;
    total_ = total;
    chunks_ = chunks;
    done_.store(0, std::memory_order_relaxed);
    generation_ += kCountMask + 1;
    // The caller's own share last: a worker that looks meanwhile finds its own first.
    for (int share = share_count_ - 1; share >= 0; --share)
      shares_[share].word.store(generation_ | ChunkCount(share), std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst) > 0) {
      {
        std::lock_guard lock(mutex_);
      }
      wake_.notify_all();
    }
    t_in_loop = true;
    while (RunOneChunk(0)) {
    }
    t_in_loop = false;
    for (int i = 0; done_.load(std::memory_order_acquire) != chunks; ++i) {
      if (i < kSpin) {
        Pause();
      } else {
        std::this_thread::yield();
      }
    }
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  // What is claimed from: the loop's number above, the chunks of the share that nobody has claimed below. A claim that
  // succeeds proves that the loop has not ended, hence that its fields hold still until the chunk is done.
  static constexpr uint64_t kCountMask = 0xffffffffu;
  struct alignas(64) Share {
    std::atomic<uint64_t> word{0};
  };

  int64_t FirstChunk(int share) const noexcept { return chunks_ * share / share_count_; }
  uint64_t ChunkCount(int share) const noexcept {
    return static_cast<uint64_t>(FirstChunk(share + 1) - FirstChunk(share));
  }

  /// Of the share `home` or, if nothing of it is left, of the next ones. False if all is claimed.
  bool RunOneChunk(int home) noexcept {
    for (int i = 0; i < share_count_; ++i) {
      const int share = (home + i) % share_count_;
      std::atomic<uint64_t>& claims = shares_[share].word;
      uint64_t word = claims.load(std::memory_order_acquire);
      do {
        if ((word & kCountMask) == 0) break;
      } while (!claims.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel, std::memory_order_acquire));
      const auto left = static_cast<int64_t>(word & kCountMask);
      if (left == 0) continue;
      RunChunk(FirstChunk(share + 1) - left);
      return true;
    }
    return false;
  }

  /// The larger chunks lie scattered, so that shares are as equal as can be.
  int64_t Begin(int64_t chunk) const noexcept {
    const int64_t quotient = total_ / chunks_, rest = total_ % chunks_;
    return chunk * quotient + chunk * rest / chunks_;
  }

  void RunChunk(int64_t index) noexcept {
    try {
      (*body_)(Begin(index), Begin(index + 1));
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    done_.fetch_add(1, std::memory_order_release);
  }

  bool HasChunks() const noexcept {
    return std::any_of(shares_, shares_ + share_count_, [](const Share& share) {
      return (share.word.load(std::memory_order_seq_cst) & kCountMask) != 0;
    });
  }

  void Start() {
    workers_.reserve(static_cast<std::size_t>(wanted_));
    started_ = true;
    // Signals are the business of the application's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (static_cast<int>(workers_.size()) < wanted_) {
        const int home = (static_cast<int>(workers_.size()) + 1) % share_count_;
        workers_.emplace_back([this, home] { Work(home); });
      }
    } catch (const std::system_error&) {
      // No more threads to be had: the loop is done by those there are.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void Work(int home) noexcept {
    t_in_loop = true;
    while (true) {
      const uint32_t quiesced = quiesced_.load(std::memory_order_relaxed);
      for (int i = 0;
           i < kSpin && quiesced_.load(std::memory_order_relaxed) == quiesced && !stop_.load(std::memory_order_relaxed);
           ++i) {
        if (RunOneChunk(home)) i = 0;
        Pause();
      }
      std::unique_lock lock(mutex_);
      sleeping_.fetch_add(1, std::memory_order_seq_cst);
      wake_.wait(lock, [this] { return stop_.load(std::memory_order_relaxed) || HasChunks(); });
      sleeping_.fetch_sub(1, std::memory_order_seq_cst);
      if (stop_.load(std::memory_order_relaxed)) return;
    }
  }

  const int wanted_;
  const int share_count_;
  std::atomic<bool> busy_{false};
  Share shares_[kMostShares];
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<uint32_t> quiesced_{0};
  std::atomic<bool> stop_{false};
  uint64_t generation_ = 0;  // the holder's
  // Of the loop; written by the holder before the shares are published.
  const RangeFn* body_ = nullptr;
  int64_t total_ = 0;
  int64_t chunks_ = 1;
  bool started_ = false;
  std::mutex mutex_;  // sleep and wake, error_
  std::condition_variable wake_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

class Pool final : public ParallelBackend {
 public:
  explicit Pool(int threads) : threads_(threads) {}
  ~Pool() override { crew_.Destroy(); }

  void ParallelFor(int64_t total, double cost_per_unit, RangeFn body) override {
    if (total <= 0) return;
    const double cost = static_cast<double>(total) * cost_per_unit;
    if (threads_ == 1 || total == 1 || t_in_loop || cost < kWorthNs) return body(0, total);
    Crew& crew = crew_.Get([this] { return std::make_unique<Crew>(threads_ - 1); });
    if (!crew.TryAcquire()) return body(0, total);
    struct Hold {
      Crew& crew;
      ~Hold() { crew.Release(); }
    } hold{crew};
    const auto most =
        static_cast<int64_t>(std::min(cost / kMinChunkNs, static_cast<double>(threads_ * kChunksPerThread)));
    crew.RunLoop(total, std::min(total, std::max<int64_t>(most, 1)), body);
  }
  int thread_count() const noexcept override { return threads_; }
  void Quiesce() noexcept override {
    if (Crew* crew = crew_.Existing()) crew->Quiesce();
  }

 private:
  const int threads_;
  PerProcess<Crew> crew_;
};

/// Cores that this process may run on, hyper-threads of one core counted once.
int PhysicalCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return std::max(1u, std::thread::hardware_concurrency());
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list";
    std::string siblings = std::to_string(cpu);
    if (std::FILE* file = std::fopen(path.c_str(), "re")) {
      char line[256];
      if (std::fgets(line, sizeof(line), file)) siblings = line;
      std::fclose(file);
      if (!siblings.empty() && siblings.back() == '\n') siblings.pop_back();
    }
    cores.insert(siblings);
  }
  return std::max<int>(1, static_cast<int>(cores.size()));
}

struct Pools {
  std::mutex mutex;
  std::map<int, std::weak_ptr<ParallelBackend>> by_size;
};

}  // namespace

std::shared_ptr<ParallelBackend> AcquirePool(int threads) {
  if (threads < 0 || threads > kMaxThreads)
    throw Error(ErrorCode::kInvalidArgument,
                "AcquirePool: the number of threads must be from 0 (one per physical core) to " +
                    std::to_string(kMaxThreads) + ", got " + std::to_string(threads));
  if (threads == 0) threads = std::min(PhysicalCores(), kMaxThreads);
  // Never destroyed: a pool may be let go by a static destructor of somebody else.
  static auto* pools = new PerProcess<Pools>;
  Pools& known = pools->Get([] { return std::make_unique<Pools>(); });
  std::lock_guard lock(known.mutex);
  std::weak_ptr<ParallelBackend>& slot = known.by_size[threads];
  std::shared_ptr<ParallelBackend> pool = slot.lock();
  if (!pool) slot = pool = std::make_shared<Pool>(threads);
  return pool;
}

}  // namespace light
