/** Names the failure of sendto(2) from the text of strerror. "busy" is temporary, and the caller sends again. */
export function sendFailure(message: string): string {
  if (/temporarily unavailable|No buffer space/i.test(message)) return "busy";
  if (/Network is unreachable|Cannot assign requested address/i.test(message)) return "network_unreachable";
  if (/No route to host/i.test(message)) return "host_unreachable";
  if (/not permitted|Permission denied/i.test(message)) return "not_permitted";
  if (/Message too long/i.test(message)) return "message_too_long";
  return "send_failed";
}

/** Reports whether an error ends the socket. Nothing to read, or an ICMP error of an earlier send, does not. */
export function isFatal(message: string): boolean {
  return !/temporarily unavailable|unreachable|refused|No route/i.test(message);
}
