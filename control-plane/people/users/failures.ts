import { hash } from "node:crypto";
import type { Clock } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { addressGroup } from "#control-plane/http/limits/address.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import { deleteAttempts, findFull, insertAttempts } from "#control-plane/people/users/attempt-store.ts";
import type { Devices } from "#control-plane/people/users/devices.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";

/** Time in which failed sign-ins are counted, milliseconds. */
export const ATTEMPT_WINDOW_MS = 900_000;

/** Failures in that time. own: those of a session or a device. pair: those of one user from one network. */
const MOST = { own: 10, pair: 10, user: 100, address: 30, network: 300 } as const;

/** A counter of failed sign-ins: the SHA-256, in hex, of what is counted, and how many failures it allows. */
interface Counter {
  readonly subject: string;
  readonly most: number;
}

/** Who tries to sign in, and from where. */
export interface Attempt {
  /** What the address of the user is counted by. */
  readonly user: string;
  readonly address: string;
  /** The network of the address. */
  readonly network: string;
  /** Its live session, named in a way that lasts until the next sign-in; null: the user is not signed in. */
  readonly session: string | null;
  /** A device of the user; null if it is a stranger's. */
  readonly deviceId: number | null;
}

/**
 * Returns the counters of an attempt: lists, of which one must have room in every counter. A session and a device have
 * failures of their own, which nobody else can use up, before those that they share with strangers. Pure.
 */
export function countersOf({ user, address, network, session, deviceId }: Attempt): readonly (readonly Counter[])[] {
  const strangers = [
    counter(MOST.pair, "pair", network, user),
    counter(MOST.user, "user", user),
    counter(MOST.address, "address", addressGroup(address)),
    counter(MOST.network, "network", network),
  ];
  return [
    ...(session === null ? [] : [[counter(MOST.own, "session", session)]]),
    ...(deviceId === null ? [] : [[counter(MOST.own, "device", String(deviceId))]]),
    strangers,
  ];
}

/**
 * Returns null if an attempt has room, else the failure that must be forgotten first. `full`: the subjects without room, each
 * with the failure that must be forgotten for it. Pure.
 */
export function firstToForget(lists: readonly (readonly Counter[])[], full: ReadonlyMap<string, Date>): Date | null {
  const waits = lists.map((list) => Math.max(...list.map(({ subject }) => full.get(subject)?.getTime() ?? -Infinity)));
  const least = Math.min(...waits);
  return least === -Infinity ? null : new Date(least);
}

/** Limits how often passwords are guessed. */
export interface Failures {
  /**
   * Begins an attempt, which counts as failed until `forget` is called: guesses that are made at the same time are limited
   * too. Addresses that no user has are limited in the same way.
   */
  begin(
    email: string,
    user: { readonly id: number } | null,
    from: Client,
  ): Promise<
    | { readonly ok: true; readonly forget: () => Promise<void> }
    | { readonly ok: false; readonly retryAfterSeconds: number }
  >;
}

/** Opens the limits of one replica. `networkOf`: returns the network of an address. */
export function createFailures({
  sql,
  clock,
  devices,
  networkOf,
}: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly devices: Pick<Devices, "find">;
  readonly networkOf: (address: string) => string;
}): Failures {
  return {
    async begin(email, user, { address, device, session }) {
      const now = clock.now();
      const since = new Date(now.getTime() - ATTEMPT_WINDOW_MS);
      const lists = countersOf({
        user: addressKey(email),
        address,
        network: networkOf(address),
        // Not its id, which is another one after a change of the account.
        session: session === null || session.userId !== user?.id ? null : `${user.id} ${session.createdAt.getTime()}`,
        deviceId: user === null ? null : await devices.find(sql, device, user.id),
      });
      return transact(sql, async (tx) => {
        const counters = lists.flat();
        const wait = firstToForget(lists, await findFull(tx, counters, since));
        if (wait !== null) {
          const waitMs = wait.getTime() + ATTEMPT_WINDOW_MS - now.getTime();
          return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
        }
        // Under all of them: what a thief of a session or a device fails counts as a stranger's, too.
        const subjects = counters.map(({ subject }) => subject);
        const ids = await insertAttempts(tx, subjects, now);
        return { ok: true, forget: () => deleteAttempts(sql, ids) };
      });
    },
  };
}

function counter(most: number, kind: string, ...values: readonly string[]): Counter {
  return { subject: hash("sha256", [kind, ...values].join(" "), "hex"), most };
}
