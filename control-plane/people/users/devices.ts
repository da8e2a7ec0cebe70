import type { Clock } from "#shared/time/clock.ts";
import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { isSigned, signText } from "#control-plane/core/secrets/signed-text.ts";
import {
  deleteDevices,
  deleteOldDevices,
  giveDevice,
  hasDevice,
  useDevice,
} from "#control-plane/people/users/device-store.ts";

/** Life of a device that is not used, seconds. */
export const DEVICE_SECONDS = 365 * 86_400;

const FORM = /^(\d{1,15})-(\d{1,15})-([0-9A-Za-z_-]{32})$/;
const PURPOSE = "devices.cookie";

/**
 * Devices on which users have signed in. The cookie of one names it and its user, signed. It proves no password: what it
 * changes is which failures count.
 */
export interface Devices {
  /** Returns the cookie of a session's device, which it gets if it had none; null if the session has ended. */
  cookieOf(session: {
    readonly id: number;
    readonly userId: number;
    readonly deviceId: number | null;
  }): Promise<string | null>;
  /** Finds the device of a cookie; null if it is not one of this user, or has ended. */
  find(sql: Queryable, cookie: string | null, userId: number): Promise<number | null>;
  /** Finds the device of a cookie, as `find` does, and notes that a session of this user begins on it. */
  use(sql: Queryable, cookie: string | null, userId: number): Promise<number | null>;
  /** Ends the devices of a user, but for the one with this id. */
  end(sql: Queryable, userId: number, exceptId?: number | null): Promise<void>;
  /** Deletes devices that were not used for a year, up to a number. Returns how many. */
  sweep(sql: Queryable, limit: number): Promise<number>;
}

/** Opens the devices of one replica. */
export function createDevices({
  sql,
  clock,
  encryption,
}: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly encryption: Pick<Encryption, "digest">;
}): Devices {
  const usedAfter = (): Date => new Date(clock.now().getTime() - DEVICE_SECONDS * 1_000);

  /** Returns the id in a cookie that is signed for this user. */
  function read(cookie: string | null, userId: number): number | null {
    const [, user = "", device = "", signature = ""] = FORM.exec(cookie ?? "") ?? [];
    if (user !== String(userId)) return null;
    return isSigned(encryption, `${user}-${device}`, { purpose: PURPOSE, signature }) ? Number(device) : null;
  }

  return {
    async cookieOf({ id: sessionId, userId, deviceId }) {
      const id = deviceId ?? (await transact(sql, (tx) => giveDevice(tx, { id: sessionId, userId }, clock.now())));
      if (id === null) return null;
      const named = `${userId}-${id}`;
      return `${named}-${signText(encryption, named, PURPOSE)}`;
    },
    async find(on, cookie, userId) {
      const id = read(cookie, userId);
      return id !== null && (await hasDevice(on, { id, userId }, usedAfter())) ? id : null;
    },
    async use(on, cookie, userId) {
      const id = read(cookie, userId);
      const at = { now: clock.now(), usedAfter: usedAfter() };
      return id !== null && (await useDevice(on, { id, userId }, at)) ? id : null;
    },
    end: (on, userId, exceptId = null) => deleteDevices(on, userId, exceptId),
    sweep: (on, limit) => deleteOldDevices(on, usedAfter(), limit),
  };
}
