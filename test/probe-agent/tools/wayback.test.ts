import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { wayback } from "#probe-agent/tools/wayback.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { resultOf, runTool } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Answer = (response: ServerResponse, query: URLSearchParams) => void;

const PAGE = "https://example.com/a?b=1";
let available: Answer;
let index: Answer;

const send =
  (value: unknown, status = 200): Answer =>
  (response) => {
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(typeof value === "string" ? value : JSON.stringify(value));
  };
const silent: Answer = () => undefined;
const NOTHING = { url: PAGE, archived_snapshots: {} };
const CLOSEST = {
  url: PAGE,
  archived_snapshots: {
    closest: {
      status: "200",
      available: true,
      url: "http://web.archive.org/web/20240102030405/x",
      timestamp: "20240102030405",
    },
  },
};
const ROWS = [
  ["timestamp", "statuscode"],
  ["20191231235959", "301"],
  ["20200101000000", "200"],
  ["20200615120000", "-"],
  ["20240102030405", "200"],
];

const archive: HttpServer = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      const url = new URL(path, "http://archive.invalid");
      if (url.pathname === "/wayback/available") available(response, url.searchParams);
      else if (url.pathname === "/cdx/search/cdx") index(response, url.searchParams);
      else return false;
      return true;
    },
  }),
);

beforeEach(() => {
  available = send(CLOSEST);
  index = send(ROWS);
});

function setting(timeoutMs = 60_000) {
  const services = { waybackUrl: `${archive.url}/wayback/available`, waybackCdxUrl: `${archive.url}/cdx/search/cdx` };
  return { services, timeoutMs };
}

const look = (timeoutMs?: number) => resultOf(wayback, { url: `${PAGE}#part` }, setting(timeoutMs));
const fail = async (timeoutMs?: number) => (await runTool(wayback, { url: PAGE }, setting(timeoutMs))).outcome;

describe("an archived page", () => {
  it("is reported with first, last and closest snapshot and its years", async () => {
    const { observed_at: at, elapsed_ms: _elapsed, ...result } = await look();
    const shown = (stamp: string) => `${archive.url}/web/${stamp}/${PAGE}`;
    expect(result).toEqual({
      url: PAGE,
      archived: true,
      snapshots_total: 4,
      first: { timestamp: "2019-12-31T23:59:59Z", url: shown("20191231235959"), code: 301 },
      last: { timestamp: "2024-01-02T03:04:05Z", url: shown("20240102030405"), code: 200 },
      closest: { timestamp: "2024-01-02T03:04:05Z", url: shown("20240102030405"), code: 200 },
      years: { 2019: 1, 2020: 2, 2024: 1 },
      calendar_url: shown("*"),
      source: ["archive.org availability", "archive.org cdx"],
      limitations: [],
    });
    expect(new Date(at).toISOString()).toBe(at);
  });

  it("is looked up with its whole URL, without the fragment", async () => {
    const seen: (string | null)[] = [];
    index = (response, query) => {
      seen.push(query.get("url"), query.get("output"));
      send(ROWS)(response, query);
    };
    await look();
    expect(seen).toEqual([PAGE, "json"]);
  });

  it("is found in the index if the availability service reports nothing", async () => {
    available = send(NOTHING);
    const result = await look();
    expect(result).toMatchObject({
      archived: true,
      snapshots_total: 4,
      closest: { timestamp: "2024-01-02T03:04:05Z" },
    });
  });

  it.each([
    ["limits requests", send("slow down", 429), /429/],
    ["fails", send("<html>", 503), /503/],
    ["sends another form of response", send({ error: "x" }), /unknown form/],
    [
      "excludes the site",
      send("org.archive.util.io.RuntimeIOException: AdministrativeAccessControlException: Blocked Site Error", 403),
      /excluded/,
    ],
  ])("is found by the availability service, without counts, if the index %s", async (_, answer, why) => {
    index = answer;
    const result = await look();
    expect(result).toMatchObject({ archived: true, snapshots_total: null, first: null, last: null, years: {} });
    expect(result.closest?.code).toBe(200);
    expect(result.limitations).toEqual([expect.stringMatching(why)]);
    expect(result.source).toEqual(["archive.org availability"]);
  });

  it("is found by the availability service in time if the index is slow", async () => {
    index = silent;
    const result = await endsBy(4000, () => look(4000));
    expect(result).toMatchObject({ archived: true, snapshots_total: null });
  });

  it("has no total if the index does not list an existing snapshot", async () => {
    index = send([]);
    const result = await look();
    expect(result).toMatchObject({ archived: true, snapshots_total: null, first: null, last: null, years: {} });
    expect(result.closest?.timestamp).toBe("2024-01-02T03:04:05Z");
    expect(result.limitations).toEqual([expect.stringMatching(/lag behind/)]);
  });

  it.each([
    ["is overloaded is asked once more", 504, 4, 2],
    ["limits requests is not asked again", 429, null, 1],
  ])("in an index that %s", async (_what, status, total, times) => {
    let asked = 0;
    index = (response, query) => {
      asked += 1;
      (asked === 1 ? send("", status) : send(ROWS))(response, query);
    };
    expect((await look()).snapshots_total).toBe(total);
    expect(asked).toBe(times);
  });

  it("with more snapshots than are counted has no total, but has the first and the last", async () => {
    index = (response, query) => {
      const limit = Number(query.get("limit"));
      const rows =
        limit < 0 ? [["20251231000000", "200"]] : Array.from({ length: limit }, () => ["20200101000000", "200"]);
      send([["timestamp", "statuscode"], ...rows])(response, query);
    };
    const result = await look();
    expect(result).toMatchObject({
      snapshots_total: null,
      years: {},
      first: { timestamp: "2020-01-01T00:00:00Z" },
      last: { timestamp: "2025-12-31T00:00:00Z" },
    });
    expect(result.limitations.join(" ")).toMatch(/more than 100000/);
  });
});

describe("a page that is not archived", () => {
  it("is reported so only by the index", async () => {
    available = send(NOTHING);
    index = send([]);
    expect(await look()).toMatchObject({
      archived: false,
      snapshots_total: 0,
      first: null,
      last: null,
      closest: null,
      years: {},
      limitations: [],
    });
  });

  it("is a failure if the index fails, because an empty availability response proves nothing", async () => {
    available = send(NOTHING);
    index = send("", 500);
    expect(failureOf(await fail())).toBe("response/service/source_unavailable");
  });

  it("is a failure if no service answers", async () => {
    available = send("", 429);
    index = send("", 429);
    const outcome = await fail();
    expect(failureOf(outcome)).toBe("response/service/source_unavailable");
    expect(outcome.status === "failed" && outcome.message).toMatch(/429/);
    expect(failureOf((await runTool(wayback, { url: PAGE })).outcome)).toBe("response/service/source_unavailable");
  });

  it("ends in time if no service answers at all", async () => {
    available = silent;
    index = silent;
    expect(failureOf(await endsBy(4000, () => fail(4000)))).toBe("response/service/source_unavailable");
  });
});
