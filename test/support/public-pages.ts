import { createLog } from "#shared/process/log.ts";
import { DatabaseAway } from "#control-plane/core/database/database-away.ts";
import { createGate } from "#control-plane/http/gate.ts";
import { createServer } from "#control-plane/http/server.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { createVisitLimiter } from "#control-plane/http/limits/visits.ts";
import { createMetrics } from "#control-plane/core/metrics.ts";
import type { PageView } from "#control-plane/public/status-pages/page.ts";
import { monthOf } from "#control-plane/public/status-pages/read/month.ts";
import { registerPublicPages } from "#control-plane/public/status-pages/routes/public-page.ts";
import { hostOf } from "#control-plane/public/status-pages/settings/domain.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";

/** The public routes over views that a test gives, listening on loopback. */
export interface PublicPageServer {
  readonly url: string;
  /** Views by slug. A test can change them. */
  readonly views: Map<string, PageView>;
  /** Slugs by domain. */
  readonly domains: Map<string, string>;
  /** Slugs that are refused because too many requests wait. */
  readonly waiting: Set<string>;
  readonly clock: ReturnType<typeof createManualClock>;
  close(): Promise<void>;
}

/** Starts a server that has only the public routes of status pages. */
export async function startPublicPages(views: Readonly<Record<string, PageView>>): Promise<PublicPageServer> {
  const clock = createManualClock(new Date("2026-11-23T20:00:00Z"));
  const known = new Map(Object.entries(views));
  const domains = new Map<string, string>();
  const waiting = new Set<string>();
  const server = createServer({
    clock,
    random: systemRandom,
    log: createLog({ destination: { write: () => undefined } }),
    metrics: createMetrics({ clockOffsetMs: () => 0 }),
    config: { trustedProxies: [], v1V2Sunset: new Date("2026-01-01T00:00:00Z") },
  });
  const gate = createGate({
    clock,
    failures: createAddressLimiter({ clock, limit: 30, windowSeconds: 60 }),
    // There are no accounts, so no key is valid and nothing is counted.
    keys: { find: (_key, found) => found(null, null) },
    limits: { take: (_account, _plan, _kind, counted) => counted(null, null) },
  });
  registerPublicPages(server, {
    clock,
    gate,
    visits: createVisitLimiter(clock),
    memberAccount: () => Promise.resolve(null),
    baseUrl: "https://vantage.example",
    pages: {
      async view(slug) {
        if (waiting.has(slug)) throw new DatabaseAway("too many names wait to be looked up");
        return known.get(slug) ?? null;
      },
      async incident(slug, _viewer, id) {
        const view = known.get(slug);
        const incident = view?.incidents.find((one) => one.id === id);
        if (view === undefined || incident === undefined) return null;
        return { view, incident, month: "2026-11", generatedAt: view.generatedAt };
      },
      async archive(slug, _viewer, name) {
        const view = known.get(slug);
        const month = monthOf(name, new Date("2026-09-20T00:00:00Z"), clock.now());
        if (view === undefined || month === null) return null;
        const { incidents, maintenance, generatedAt } = view;
        return { view, archive: { month, incidents, maintenance, isCut: false }, generatedAt };
      },
      logo: () => Promise.resolve(null),
      slugOfDomain: (field) => domains.get(hostOf(field)) ?? null,
    },
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, views: known, domains, waiting, clock, close: () => server.close() };
}
