import type { JobEvent } from "#probe-agent/net/icmp/messages.ts";

// Long enough to bundle a flood of events, short enough to look live.
const FLUSH_AFTER_MS = 4;

/**
 * Creates a sender that sends events in batches, so that IPC with the agent never delays the time stamp of a packet.
 */
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
