import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteStrangersRoutes, type FoundRoute } from "#test/support/dashboard-routes.ts";
import { fillAccount } from "#test/support/dashboard-world.ts";
import {
  HOSTILE_BODIES,
  HOSTILE_IDS,
  HOSTILE_QUERIES,
  HOSTILE_VALUES,
  insideOf,
  MORE_HOSTILE_VALUES,
} from "#test/support/hostile-input.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Names in the queries of these routes. */
const QUERY_NAMES = [
  "monitor",
  "metric",
  "month",
  "slug",
  "rid",
  "status",
  "q",
  "host",
  "url",
  "tool",
  "email",
  "token",
];
/** Fields of their forms. */
const FIELDS = ["email", "monitors", "_csrf", "token", "acknowledge", "List-Unsubscribe", "q", "url", "host"];
const FORM = "application/x-www-form-urlencoded";
/** Nothing listens there. */
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

const routes = noteStrangersRoutes();
/** What the service has logged of its own failures. */
const failures: string[] = [];
let sent = 0;

const plane = await stopAfterAll(
  startControlPlane({
    log: pino({ level: "error" }, { write: (line: string) => void failures.push(line) }),
    config: { trustedProxies: ["127.0.0.0/8"], mail: { server: NO_SERVER, from: "Vantage <alerts@example.com>" } },
  }),
);
await fillAccount(plane, "visited", "plain");

/** Sends a request from an address of its own. Returns what is wrong with its answer; empty: nothing. */
async function ask(path: string, method: string, type: string | null, body: string | null): Promise<readonly object[]> {
  sent += 1;
  const address = `2001:db8:${(sent >> 16).toString(16)}:${(sent & 0xffff).toString(16)}::1`;
  const headers = { "x-forwarded-for": address, ...(type === null ? {} : { "content-type": type }) };
  const response = await fetch(`${plane.url}${path}`, { method, headers, body, redirect: "manual" });
  const text = await response.text();
  const inside = insideOf(text);
  // Without agents the tools of the open tier have nobody to ask.
  const isFailure = response.status >= 500 && response.status !== 503;
  if (!isFailure && inside === null) return [];
  const log = isFailure ? failures.at(-1)?.slice(0, 600) : null;
  return [{ path: path.slice(0, 100), method, body: body?.slice(0, 60), status: response.status, inside, log }];
}

/** Returns the path of a route with an id in place of each parameter but the slug of the page. */
function pathOf({ url }: FoundRoute, id: string): string {
  return url.replace(":slug", "page-visited").replaceAll(/:\w+(?:\([^)]*\))?|\*/g, () => id);
}

/** The routes but those of fixed files, which have code in them. */
const wanted = () =>
  routes.filter(({ method, url }) => (method === "GET" || method === "POST") && !/^\/(?:docs|openapi)/.test(url));

/** Runs requests, some at the same time. Returns what is wrong with their answers. */
async function judgeAll(asks: readonly (() => Promise<readonly object[]>)[]): Promise<readonly object[]> {
  const wrong: object[] = [];
  for (let at = 0; at < asks.length; at += 8) {
    // oxlint-disable-next-line no-await-in-loop -- eight at a time
    wrong.push(...(await Promise.all(asks.slice(at, at + 8).map((one) => one()))).flat());
  }
  return wrong;
}

describe("hostile visitors", () => {
  it("are no failure by what they put into a path", async () => {
    expect(wanted().length).toBeGreaterThan(20);
    const asks = wanted().flatMap((route) =>
      HOSTILE_IDS.flatMap((id) => [
        () => ask(pathOf(route, id), route.method, null, route.method === "POST" ? "" : null),
        () => ask(route.url.replaceAll(/:\w+|\*/g, id), route.method, null, route.method === "POST" ? "" : null),
      ]),
    );
    expect(await judgeAll(asks)).toEqual([]);
  });

  it("are no failure by what they ask for", async () => {
    const queries = [
      ...HOSTILE_QUERIES,
      ...HOSTILE_VALUES.map((value) =>
        String(new URLSearchParams(QUERY_NAMES.map((name): [string, string] => [name, value]))),
      ),
      ...MORE_HOSTILE_VALUES.flatMap((value) =>
        ["monitor", "month"].map((name) => String(new URLSearchParams([[name, value]]))),
      ),
    ].filter((query) => query.length < 15_000);
    const asks = wanted()
      .filter(({ method }) => method === "GET")
      .flatMap((route) => queries.map((query) => () => ask(`${pathOf(route, "1")}?${query}`, "GET", null, null)));
    expect(await judgeAll(asks)).toEqual([]);
  });

  it("are no failure by the forms and bodies that they send", async () => {
    const forms = MORE_HOSTILE_VALUES.map((value) =>
      String(new URLSearchParams(FIELDS.map((name): [string, string] => [name, value]))),
    );
    const bodies = [...HOSTILE_BODIES, ...forms.map((body) => [FORM, body] as const)];
    const asks = wanted()
      .filter(({ method }) => method === "POST")
      .flatMap((route) =>
        bodies.map(
          ([type, body]) =>
            () =>
              ask(pathOf(route, "1"), "POST", type, body),
        ),
      );
    expect(await judgeAll(asks)).toEqual([]);
  });
});
