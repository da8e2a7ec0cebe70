import type { Logger } from "pino";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { createPump } from "#control-plane/core/database/pump.ts";
import { releaseSlots, type ClaimedSlot, type ReleasedSlot } from "#control-plane/watching/checking/schedule/store.ts";

/** Gives slots back whose checks cannot begin now. They keep their planned times, so their checks are late, not lost. */
interface Postponer {
  /** Takes a slot. `dueAt`: when it can be claimed again; null: as soon as there is room. */
  add(slot: ClaimedSlot, dueAt: Date | null): void;
}

/** Creates the postponer of one replica. Slots of the same moment share a statement. */
export function createPostponer(sql: Sql, log: Logger): Postponer {
  let waiting: ReleasedSlot[] = [];
  const pump = createPump(async () => {
    const released = waiting;
    waiting = [];
    try {
      await releaseSlots(sql, released);
    } catch (error) {
      log.debug(
        { err: error },
        "monitors: postponed checks could not be given back; they follow when their leases end",
      );
    }
  });
  return {
    add({ monitorId, location, lease }, dueAt) {
      waiting.push({ monitorId, location, lease, dueAt });
      pump.wake();
    },
  };
}
