import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";

// Long enough to bundle a flood, short enough to look live.
const FLUSH_AFTER_MS = 4;

/** Bundles events, so that telling the agent never stands between a packet's arrival and its time stamp. */
export function createOutbox(send: (events: readonly JobEvent[]) => void): (event: JobEvent) => void {
  let events: JobEvent[] = [];
  return (event) => {
    events.push(event);
    if (events.length > 1) return;
    setTimeout(() => {
      const bundle = events;
      events = [];
      send(bundle);
    }, FLUSH_AFTER_MS);
  };
}
