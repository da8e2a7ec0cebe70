-- Counts answers that are no successful probe, and prints: result <rate> <p99 in ms> <requests> <failures>.
local threads = {}
function setup(thread) table.insert(threads, thread) end
function init() failed = 0 end
function response(status, headers, body)
  if status ~= 200 or not string.find(body, "\nprobe_success 1\n", 1, true) then failed = failed + 1 end
end
function done(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
  for _, thread in ipairs(threads) do failures = failures + thread:get("failed") end
  io.write(string.format("result %.1f %.3f %d %d\n", summary.requests / (summary.duration / 1e6),
    latency:percentile(99) / 1000, summary.requests, failures))
end
