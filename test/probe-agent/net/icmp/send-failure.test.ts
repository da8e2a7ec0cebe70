import { expect, it } from "vitest";
import { isFatal, sendFailure } from "#probe-agent/net/icmp/send-failure.ts";

it.each([
  ["Resource temporarily unavailable", "busy"],
  ["No buffer space available", "busy"],
  ["Network is unreachable", "network_unreachable"],
  ["Cannot assign requested address", "network_unreachable"],
  ["No route to host", "host_unreachable"],
  ["Operation not permitted", "not_permitted"],
  ["Message too long", "message_too_long"],
  ["Bad file descriptor", "send_failed"],
])("names %s %s", (message, reason) => {
  expect(sendFailure(message)).toBe(reason);
});

it("keeps a socket after the ICMP error of an earlier send, and drops it after any other error", () => {
  const messages = [
    "Resource temporarily unavailable",
    "Network is unreachable",
    "Connection refused",
    "No route to host",
  ];
  expect(messages.map(isFatal)).toEqual([false, false, false, false]);
  expect(isFatal("Bad file descriptor")).toBe(true);
});
