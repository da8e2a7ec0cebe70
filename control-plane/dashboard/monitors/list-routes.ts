import type { FastifyInstance } from "fastify";
import type { Clock } from "#shared/clock.ts";
import { memberOf, type Door } from "#control-plane/dashboard/door/door.ts";
import { sendPage } from "#control-plane/dashboard/frame/page.ts";
import { viewerTimeOf } from "#control-plane/dashboard/frame/times.ts";
import { renderList, titleOf } from "#control-plane/dashboard/monitors/list.ts";
import { readListQuery } from "#control-plane/dashboard/monitors/list-query.ts";
import { selectRows } from "#control-plane/dashboard/monitors/select-rows.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";
import type { ListedMonitor } from "#control-plane/monitors/overview.ts";
import { createSharedCache } from "#control-plane/shared-cache.ts";
import { isAllowed } from "#control-plane/users/roles.ts";

/** Seconds between two refreshes of an open list. */
const REFRESH_SECONDS = 10;
/** How long a reading of an account's monitors serves all who look at it, milliseconds. */
const SHARED_MS = 5_000;
/** Accounts whose monitors are held at once, and the monitors of all of them. */
const MOST_ACCOUNTS = 1_000;
const MOST_MONITORS = 200_000;

/** Dependencies of the list. */
export interface ListDeps {
  readonly door: Door;
  readonly clock: Clock;
  readonly monitors: Pick<Monitors, "overview">;
}

/** The monitors of accounts, read once for all views within some seconds. */
export interface Overviews {
  /** Returns the monitors of an account, newest first. */
  of(accountId: number): Promise<readonly ListedMonitor[]>;
  /** Forgets those of an account, which a member has changed. */
  forget(accountId: number): void;
}

/** Creates the shared readings of one replica. */
export function createOverviews({ clock, monitors }: Pick<ListDeps, "clock" | "monitors">): Overviews {
  const cache = createSharedCache<{ readonly accountId: number; readonly rows: readonly ListedMonitor[] }>({
    clock,
    ttlMs: SHARED_MS,
    most: MOST_ACCOUNTS,
    mostSize: MOST_MONITORS,
    sizeOf: ({ rows }) => rows.length,
    mostLoads: 2,
    mostWaiting: 100,
    load: async (name) => ({ accountId: Number(name), rows: await monitors.overview(Number(name)) }),
  });
  return {
    of: async (accountId) => (await cache.get(String(accountId)))?.rows ?? [],
    forget: (accountId) => cache.forget((found) => found?.accountId === accountId),
  };
}

/** Registers GET /app/monitors. */
export function registerList(
  scope: FastifyInstance,
  { door, clock, overviews }: ListDeps & { readonly overviews: Overviews },
): void {
  scope.route({
    ...door.page({ needs: "read" }),
    url: "/app/monitors",
    schema: { hide: true },
    async handler(request, reply) {
      const session = memberOf(request);
      const query = readListQuery(request.query as Readonly<Record<string, unknown>>);
      const selection = selectRows(await overviews.of(session.accountId), query);
      const body = renderList({
        query,
        selection,
        stripOf: () => "",
        now: clock.now(),
        viewer: viewerTimeOf(session),
        canWrite: isAllowed(session.role, "write"),
      });
      const title = titleOf(selection);
      return sendPage(request, reply, { title, session, section: "monitors", body, liveSeconds: REFRESH_SECONDS });
    },
  });
}
