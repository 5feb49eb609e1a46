// Streams whose work is done late. With DGSUITE_EMULATOR_ORDER=old or =new, work is put into a queue of its
// stream and done when the host waits for something, or has put nothing for a while: of the streams whose
// next work may be done, the one that was created first, or last, goes on. So work that does not wait for
// other work, though it should, comes too early with one order or the other. Without the variable all work is
// done at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Work = std::function<void()>;
using Ready = std::function<bool()>;
using Clock = std::chrono::steady_clock;
using Guard = std::unique_lock<std::mutex>;

enum class Order { AT_ONCE, OLD_FIRST, NEW_FIRST };

inline Order order() {
    static const Order found = [] {
        const char* value = std::getenv("DGSUITE_EMULATOR_ORDER");
        const std::string word = value ? value : "";
        return word == "old" ? Order::OLD_FIRST : word == "new" ? Order::NEW_FIRST : Order::AT_ONCE;
    }();
    return found;
}
inline bool is_late() { return order() != Order::AT_ONCE; }

// How much has been put into a stream, and how much of it is done. It outlives the stream for its events.
struct Progress { std::size_t put = 0, done = 0; };

struct Item {
    Work work;
    Ready ready;
};

struct Queue {
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    std::deque<Item> items;
};

// Locked by every function that reads or writes the data of the emulator, or the device's memory.
inline std::mutex lock;

struct Device {
    std::condition_variable changed;
    std::vector<Queue*> queues;
    Clock::time_point asked, put;
    bool started = false;
};
// It is never destroyed, since its thread does not end.
inline Device& device() {
    static auto* one = new Device;
    return *one;
}

// The thread that does the work.
inline void do_work() {
    using std::chrono::milliseconds;
    Guard guard(lock);
    Device& d = device();
    for (;;) {
        const auto now = Clock::now();
        Queue* next = nullptr;
        if (now - d.asked < milliseconds(5) || now - d.put > milliseconds(20)) {
            for (Queue* queue : d.queues) {
                if (queue->items.empty() || (queue->items.front().ready && !queue->items.front().ready())) continue;
                next = queue;
                if (order() == Order::OLD_FIRST) break;
            }
        }
        if (!next) {
            d.changed.wait_for(guard, std::chrono::microseconds(200));
            continue;
        }
        const Work work = std::move(next->items.front().work);
        next->items.pop_front();
        if (work) work();
        next->progress->done++;
        d.changed.notify_all();
    }
}

// Puts work into a queue, to be done when `ready` and all that is before it is done. The lock is held.
inline void put_late(Queue& queue, Work work, Ready ready = nullptr) {
    Device& d = device();
    if (!d.started) std::thread(do_work).detach();
    d.started = true;
    queue.items.push_back(Item{std::move(work), std::move(ready)});
    queue.progress->put++;
    d.put = Clock::now();
}

// Waits until so much is done.
inline void wait_for(Guard& guard, const Progress& progress, std::size_t n) {
    Device& d = device();
    const auto begun = Clock::now();
    while (progress.done < n) {
        d.asked = Clock::now();
        d.changed.notify_all();
        d.changed.wait_for(guard, std::chrono::milliseconds(1));
        if (Clock::now() - begun > std::chrono::seconds(60)) {
            std::fprintf(stderr, "the host waits for a stream in vain\n");
            std::_Exit(3);
        }
    }
}

// Waits until all streams are done.
inline void wait_for_all(Guard& guard) {
    const std::vector<Queue*> queues = device().queues;
    for (const Queue* queue : queues) {
        const std::shared_ptr<Progress> progress = queue->progress;
        wait_for(guard, *progress, progress->put);
    }
}
