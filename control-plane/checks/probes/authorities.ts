import type { Logger } from "pino";
import type { Clock } from "#shared/time/clock.ts";
import {
  AUTHORITY_CHANNEL,
  deleteAuthority,
  insertAuthority,
  listHolders,
  lockAuthorities,
  readAuthorities,
  revokeHolders,
  type AuthorityHolder,
  type StoredAuthority,
} from "#control-plane/checks/probes/authority-store.ts";
import { createAuthority, openAuthority, type Authority, type Holder } from "#control-plane/checks/probes/authority.ts";
import type { ListenerIdentity, Security } from "#control-plane/checks/dispatch/security.ts";
import type { App } from "#control-plane/core/app.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Notifications } from "#control-plane/core/database/notifications.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** One of the installation's authorities. */
interface OwnAuthority extends Authority {
  readonly id: number;
  readonly createdAt: Date;
}

/** The authorities, and the agents that still have a certificate of the one that leaves. */
export interface AuthorityState {
  readonly serving: OwnAuthority;
  /** The one that takes its place; null: none does. */
  readonly next: OwnAuthority | null;
  /** Agents with a certificate of the first one, if there is a second. */
  readonly holders: readonly AuthorityHolder[];
}

/**
 * The installation's authority, the same for all replicas, and the one that takes its place. Until the end of a change, the
 * first one issues the listener's certificate and lets agents join; those that follow get certificates of the second one when
 * they renew, and trust both. No certificate of one for the other exists that could outlive the change.
 */
export interface Authorities {
  /** The one of the listener and of join tokens. */
  serving(): OwnAuthority;
  /** Returns the one that renews a certificate of `holderOf`, and the one that the agent is to trust beside it. */
  issuing(
    holderOf: number,
    follows: boolean,
  ): { readonly authority: OwnAuthority; readonly leaving: OwnAuthority | null };
  /** Returns the holder of a client certificate of either; null if none of them has signed it. */
  identify(certificate: Uint8Array): (Holder & { readonly authorityId: number }) | null;
  /** Returns the SHA-256 of those that agents are to trust. */
  fingerprints(): readonly Uint8Array[];
  /** PEM of those whose client certificates are accepted. */
  accepted(): readonly string[];
  /** Adds a listener that is called after each change. */
  onChange(listener: () => void): void;
  /** Reads the state. Rejects while the database is away, as the next ones do. */
  read(): Promise<AuthorityState>;
  /** Creates the second authority, unless there is one. */
  begin(): Promise<AuthorityState>;
  /**
   * Makes the second authority the only one. Agents with a certificate of the first one are revoked if `isForced`; otherwise
   * nothing changes while there are any. Returns null if there is no second one.
   */
  finish(isForced: boolean): Promise<{ readonly isDone: boolean; readonly state: AuthorityState } | null>;
  /** Stops the timer. */
  close(): void;
}

/** Dependencies of the authorities. */
interface AuthoritiesDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  readonly database: GuardedDatabase;
  readonly notifications: Notifications;
  readonly encryption: Encryption;
  readonly sweepMs?: number;
}

const PURPOSE = "authority.private_key";
/** Interval in milliseconds at which a lost notification is found. */
const SWEEP_MS = 20_000;
/** Age in milliseconds at which a new authority issues: by then every replica accepts its certificates. */
const KNOWN_MS = 60_000;

/** Opens the authorities of this replica, which follow changes by any other. The first replica creates the first one. */
export async function openAuthorities(deps: AuthoritiesDeps): Promise<Authorities> {
  const { sql, database, notifications, encryption, clock, random, log, timers, sweepMs = SWEEP_MS } = deps;
  const opened = new Map<number, OwnAuthority>();
  const listeners: (() => void)[] = [];
  const kept = await readAuthorities(sql);
  let current = await openAll(kept.length === 0 ? await createFirst() : kept);

  function createFirst(): Promise<readonly StoredAuthority[]> {
    return transact(sql, async (tx) => {
      if ((await lockAuthorities(tx)).length === 0) await insertAuthority(tx, 1, await make(), clock.now());
      return readAuthorities(tx);
    });
  }

  async function make() {
    const { certificate, privateKey } = await createAuthority(clock, random);
    return { certificate, privateKey: encryption.seal(privateKey, PURPOSE) };
  }

  async function openAll(rows: readonly StoredAuthority[]): Promise<readonly [OwnAuthority, OwnAuthority | null]> {
    const all = await Promise.all(rows.map(async (row) => opened.get(row.id) ?? (await open(row))));
    for (const one of all) opened.set(one.id, one);
    const [serving, next = null] = all;
    if (serving === undefined) throw new Error("the installation's authority is missing");
    return [serving, next];
  }

  async function open({ id, certificate, privateKey, createdAt }: StoredAuthority): Promise<OwnAuthority> {
    const key = encryption.open(privateKey, PURPOSE);
    if (key === null) throw new Error("the authority's key in the database cannot be decrypted with the master key");
    return { ...(await openAuthority({ certificate, privateKey: key }, clock, random)), id, createdAt };
  }

  async function follow(rows: readonly StoredAuthority[]): Promise<void> {
    const [serving, next] = await openAll(rows);
    if (serving === current[0] && next === current[1]) return;
    current = [serving, next];
    log.info({ serving: serving.fingerprint, next: next?.fingerprint ?? null }, "agent authorities changed");
    for (const listener of listeners) listener();
  }

  let reading = Promise.resolve();
  /** Reads again what has changed, one read after the other, so that an older one never wins. */
  function refresh(): void {
    reading = reading
      .then(async () => follow(await database.run(readAuthorities)))
      .catch((error: unknown) =>
        log.debug({ err: error }, "agent authorities could not be read; the next attempt follows"),
      );
  }
  notifications.listen(AUTHORITY_CHANNEL, refresh, refresh);
  const sweep = timers.repeat(sweepMs, () => {
    refresh();
    return reading;
  });

  async function stateOf(rows: readonly StoredAuthority[]): Promise<AuthorityState> {
    const [serving, next] = await openAll(rows);
    const holders = next === null ? [] : await listHolders(sql, serving.id, clock.now());
    return { serving, next, holders };
  }

  /** The second one, once every replica accepts its certificates. */
  const ready = (): OwnAuthority | null => {
    const [, next] = current;
    return next !== null && clock.now().getTime() - next.createdAt.getTime() >= KNOWN_MS ? next : null;
  };

  return {
    serving: () => current[0],
    issuing(holderOf, follows) {
      const [serving, next] = current;
      const isNext = next !== null && (holderOf === next.id || (follows && ready() !== null));
      return isNext ? { authority: next, leaving: serving } : { authority: serving, leaving: null };
    },
    identify(certificate) {
      for (const one of current) {
        const holder = one?.identify(certificate) ?? null;
        if (one !== null && holder !== null) return { ...holder, authorityId: one.id };
      }
      return null;
    },
    fingerprints() {
      const next = ready();
      return [current[0], ...(next === null ? [] : [next])].map(({ fingerprint }) => Buffer.from(fingerprint, "hex"));
    },
    accepted: () => current.flatMap((one) => one?.pem ?? []),
    onChange: (listener) => void listeners.push(listener),
    read: async () => stateOf(await readAuthorities(sql)),
    async begin() {
      const rows = await transact(sql, async (tx) => {
        const [serving, next] = await lockAuthorities(tx);
        if (serving === undefined) throw new Error("the installation's authority is missing");
        if (next === undefined) await insertAuthority(tx, serving.id + 1, await make(), clock.now());
        return readAuthorities(tx);
      });
      return stateOf(rows);
    },
    async finish(isForced) {
      const isDone = await transact(sql, async (tx) => {
        const [serving, next] = await lockAuthorities(tx);
        if (serving === undefined || next === undefined) return null;
        if (isForced) await revokeHolders(tx, serving.id, clock.now());
        else if ((await listHolders(tx, serving.id, clock.now())).length > 0) return false;
        await deleteAuthority(tx, serving.id);
        return true;
      });
      return isDone === null ? null : { isDone, state: await stateOf(await readAuthorities(sql)) };
    },
    close: () => sweep.stop(),
  };
}

const HOUR_MS = 3_600_000;
// A third of the certificate's lifetime: a replica that cannot renew it for weeks still works.
const AHEAD_MS = 30 * 24 * HOUR_MS;

/** Issues the listener's certificate, and issues it again before it ends and when the authorities change, until `close`. */
export async function openListenerIdentity(
  authorities: {
    serving(): Pick<Authority, "issueServer">;
    accepted(): readonly string[];
    onChange(listener: () => void): void;
  },
  { clock, log, everyMs = HOUR_MS }: { clock: Clock; log: Logger; everyMs?: number },
): Promise<Security["identity"] & { close(): void }> {
  const listeners: ((identity: ListenerIdentity) => void)[] = [];
  const issue = async () => ({ ...(await authorities.serving().issueServer()), authorities: authorities.accepted() });
  let identity = await issue();

  async function renew(): Promise<void> {
    identity = await issue();
    log.info({ until: identity.notAfter }, "listener certificate renewed");
    for (const listener of listeners) listener(identity);
  }
  const attempt = (): void => {
    renew().catch((error: unknown) =>
      log.error({ err: error }, "listener certificate could not be renewed; the next attempt follows"),
    );
  };
  const timer = setInterval(() => {
    if (identity.notAfter.getTime() - clock.now().getTime() <= AHEAD_MS) attempt();
  }, everyMs);
  timer.unref();
  authorities.onChange(attempt);

  return {
    current: () => identity,
    onRenew: (listener) => void listeners.push(listener),
    close: () => clearInterval(timer),
  };
}
