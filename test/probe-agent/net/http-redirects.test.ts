import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf, httpEngine, pageOf } from "#test/support/http-engine.ts";

const get = httpEngine();
let server: HttpServer;
let other: HttpServer;

beforeAll(async () => {
  server = await startHttpServer();
  other = await startHttpServer();
});
afterAll(async () => {
  await server.close();
  await other.close();
});

function to(location: string, code = 302): string {
  return `${server.url}/to?url=${encodeURIComponent(location)}&code=${code}`;
}

describe("a redirect chain", () => {
  it("is followed hop by hop, each with its own status, address and timing", async () => {
    const page = pageOf(await get({ url: `${server.url}/redirect/3?code=301` }));
    expect(page.hops.map(({ code }) => code)).toEqual([301, 301, 301, 200]);
    expect(page.hops.map(({ url }) => url.slice(server.url.length))).toEqual([
      "/redirect/3?code=301",
      "/redirect/2?code=301",
      "/redirect/1?code=301",
      "/",
    ]);
    expect(page.hops.map(({ location }) => location?.slice(server.url.length) ?? null)).toEqual([
      "/redirect/2?code=301",
      "/redirect/1?code=301",
      "/",
      null,
    ]);
    expect(page.hops.every(({ ip }) => ip === "127.0.0.1")).toBe(true);
    expect(page).toMatchObject({ finalUrl: `${server.url}/`, stopped: null });
  });

  it("is not followed if the caller does not request it", async () => {
    const page = pageOf(await get({ url: `${server.url}/redirect/3`, follow: false }));
    expect(page).toMatchObject({ stopped: null, final: { code: 302, location: `${server.url}/redirect/2?code=302` } });
    expect(Buffer.from(page.body.bytes).toString()).toBe("moved\n");
  });

  it("passes the fragment on", async () => {
    expect(pageOf(await get({ url: `${server.url}/redirect/2#part` })).finalUrl).toBe(`${server.url}/#part`);
    expect(pageOf(await get({ url: `${to("/#own")}#part` })).finalUrl).toBe(`${server.url}/#own`);
  });

  it("follows a Location of UTF-8 octets", async () => {
    const raw = Buffer.from("HTTP/1.1 302 X\r\nLocation: /b\u00fccher?q=\u20ac\r\n\r\n").toString("latin1");
    const page = pageOf(await get({ url: `${server.url}/wire?bytes=${encodeURIComponent(raw)}` }));
    expect(page.finalUrl).toBe(`${server.url}/b%C3%BCcher?q=%E2%82%AC`);
    expect(server.requests.at(-1)?.path).toBe("/b%C3%BCcher?q=%E2%82%AC");
  });

  it.each([
    [301, "GET", ""],
    [302, "GET", ""],
    [303, "GET", ""],
    [307, "POST", "body"],
    [308, "POST", "body"],
  ])("continues a POST after a %i as %s", async (code, method, body) => {
    const page = pageOf(await get({ url: to("/echo", code), method: "POST", body: Buffer.from("body") }));
    expect(server.requests.at(-1)).toMatchObject({ method, body, path: "/echo" });
    expect(page.hops.map((hop) => hop.method)).toEqual(["POST", method]);
  });

  it("that fails after a redirect names the URL that failed", async () => {
    const dead = `http://127.0.0.1:${await freePort()}/x`;
    const failure = await get({ url: to(dead) });
    expect(failure).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
    expect(failure).toMatchObject({ message: expect.stringContaining(`after 1 redirect, at ${dead}: `) as string });
    expect(await get({ url: dead })).toMatchObject({ message: expect.not.stringContaining("after") as string });
  });

  it("reaches a site that redirects until its cookie is sent back", async () => {
    let visits = 0;
    const picky = await startHttpServer({
      handler: (request, response, { path }) => {
        visits += 1;
        if (path !== "/page" && path !== "/circle") return false;
        const isKnown = path === "/page" && request.headers.cookie?.includes("seen=") === true;
        if (isKnown) response.writeHead(200).end(request.headers.cookie);
        else response.writeHead(302, { location: path, "set-cookie": [`seen=${visits}; HttpOnly`, "b=2"] }).end();
        return true;
      },
    });
    const page = pageOf(await get({ url: `${picky.url}/page` }));
    expect([page.hops.map(({ code }) => code), page.stopped]).toEqual([[302, 200], null]);
    expect(Buffer.from(page.body.bytes).toString()).toBe("seen=1; b=2");
    expect(pageOf(await get({ url: `${picky.url}/circle` }))).toMatchObject({ stopped: "loop", hops: [{}, {}] });
    const own = pageOf(await get({ url: `${picky.url}/page`, headers: [["Cookie", "mine=1"]] }));
    expect([own.stopped, picky.requests.at(-1)?.headers.filter(([name]) => name === "Cookie")]).toEqual([
      "loop",
      [["Cookie", "mine=1"]],
    ]);
    await picky.close();
  });

  const PRIVATE = [["Authorization", "Bearer x"] as const, ["X-Plain", "1"] as const, ["Cookie", "a=1"] as const];
  const names = (seen: HttpServer) => seen.requests.at(-1)?.headers.map(([name]) => name) ?? [];

  it("keeps the caller's headers within the origin and drops them permanently on leaving it", async () => {
    const headers = [...PRIVATE, ["Accept-Language", "de"] as const];
    const sent: string[] = headers.map(([name]) => name);
    await get({ url: to("/echo"), headers });
    expect(names(server)).toEqual(expect.arrayContaining(sent));
    await get({ url: to(`${other.url}/to?url=${encodeURIComponent(`${server.url}/echo`)}`), headers });
    expect(server.requests.at(-1)?.path).toBe("/echo");
    for (const seen of [server, other]) {
      expect(names(seen).filter((name) => sent.includes(name))).toEqual(["Accept-Language"]);
    }
  });

  it.each([307, 308])(
    "keeps the body within the origin after a %i and drops it permanently on leaving it",
    async (code) => {
      const headers = [...PRIVATE, ["Content-Type", "text/plain"] as const];
      const back = `${other.url}/to?url=${encodeURIComponent(`${server.url}/echo`)}&code=${code}`;
      const page = pageOf(await get({ url: to(back, code), method: "POST", headers, body: Buffer.from("secret") }));
      expect(page.hops.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);
      expect(server.requests.at(-2)).toMatchObject({ body: "secret" });
      for (const seen of [other, server]) {
        expect(seen.requests.at(-1)).toMatchObject({ method: "POST", body: "" });
        expect(seen.requests.at(-1)?.headers).toContainEqual(["Content-Length", "0"]);
        expect(names(seen).filter((name) => [...PRIVATE, ["Content-Type"]].some(([own]) => own === name))).toEqual([]);
      }
    },
  );
});

describe("a chain without an end", () => {
  it.each([
    ["/loop", 1],
    ["/ping", 2],
  ])("%s is a loop after %i hops", async (path, hops) => {
    const page = pageOf(await get({ url: server.url + path }));
    expect(page).toMatchObject({ stopped: "loop", final: { code: 302 } });
    expect(page.hops.length).toBe(hops);
  });

  it("is not a loop if only the method changes", async () => {
    const page = pageOf(await get({ url: `${server.url}/loop`, method: "POST" }));
    expect(page.hops.map(({ method }) => method)).toEqual(["POST", "GET"]);
    expect(page.stopped).toBe("loop");
  });

  it("ends after the maximum number of redirects, ten by default", async () => {
    expect(pageOf(await get({ url: `${server.url}/redirect/10` })).stopped).toBeNull();
    const page = pageOf(await get({ url: `${server.url}/redirect/11` }));
    expect(page).toMatchObject({ stopped: "too_many_redirects", final: { code: 302 } });
    expect(page.hops.length).toBe(11);
    expect(pageOf(await get({ url: `${server.url}/redirect/2`, maxRedirects: 1 })).hops.length).toBe(2);
    expect(pageOf(await get({ url: `${server.url}/redirect/30`, maxRedirects: 30 })).final.code).toBe(200);
  });

  it.each([["mailto:a@b.example"], ["ftp://127.0.0.1/"], ["http://"], ["/a\\b"], [""]])(
    "ends at the Location %j, the redirect being final",
    async (location) => {
      const page = pageOf(await get({ url: to(location) }));
      expect(page).toMatchObject({ stopped: "bad_location", final: { code: 302 } });
    },
  );

  it("ends at a redirect without Location, and at one with two", async () => {
    expect(pageOf(await get({ url: `${server.url}/status/301` })).stopped).toBe("bad_location");
    expect(pageOf(await get({ url: `${to("/a")}&url=/b` })).stopped).toBe("bad_location");
  });

  it.each([300, 304, 305])("treats a %i as a final response, not as a redirect", async (code) => {
    const page = pageOf(await get({ url: `${server.url}/status/${code}?location=/` }));
    expect(page).toMatchObject({ stopped: null, final: { code, location: `${server.url}/` } });
  });

  it("is the failure of the hop that fails", async () => {
    expect(failureOf(await get({ url: to("http://127.0.0.2:1234/") }))).toBe("connect/target/refused");
  });
});
