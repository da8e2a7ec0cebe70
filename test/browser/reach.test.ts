import { createSocket } from "node:dgram";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createEgress, type Egress } from "#shared/internet/egress.ts";
import type { PageLoad } from "#probe-agent/port/browser.ts";
import { agentBrowser, describeBrowser, leftovers, loadOf } from "#test/browser/chromium.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { makeRecord } from "#test/servers/dns-zones.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { failureOf } from "#test/support/http-engine.ts";

/** Address of the pages; allowed. */
const SITE = "127.0.0.1";
/** An address that no page is allowed to reach. It is allowed only to prove that each way works. */
const INSIDE = "127.0.0.2";
const closed = createEgress({ targets: [`${SITE}/32`], names: [] });
const opened = createEgress({ targets: ["127.0.0.0/8", "::1/128"], names: ["localhost"] });

let site: HttpServer;
let sentinel: HttpServer;
let datagrams = 0;
const udp = createSocket("udp4");
let dns: DnsServer;
let flips = 0;
let html = "";
let redirect: string | null = null;

beforeAll(async () => {
  site = await startHttpServer({
    host: SITE,
    handler: (_request, response, { path }) => {
      if (path === "/redirect") response.writeHead(302, { location: redirect ?? "/" }).end();
      else if (path === "/worker.js")
        response
          .writeHead(200, { "content-type": "text/javascript" })
          .end(`fetch("${inside("worker")}", { mode: "no-cors" }).catch(() => 0)`);
      else if (path === "/") response.writeHead(200, { "content-type": "text/html" }).end(html);
      else response.writeHead(404).end();
      return true;
    },
  });
  sentinel = await startHttpServer({
    host: INSIDE,
    port: site.port,
    handler: (_request, response) => {
      response.writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" }).end("<p>inside");
      return true;
    },
  });
  udp.on("message", () => {
    datagrams += 1;
  });
  await new Promise<void>((resolve) => {
    udp.bind(site.port, INSIDE, resolve);
  });
  dns = await startDnsServer({
    answer(asked, type) {
      const name = asked.toLowerCase();
      if (name === "rebinding.test" && type === "A") flips += 1;
      const address = {
        "rebinding.test": flips > 1 ? INSIDE : SITE,
        "inside.test": INSIDE,
        "site.test": SITE,
      }[name];
      const answers = type === "A" && address !== undefined ? [makeRecord(asked, "A", address)] : [];
      return { status: address === undefined ? "NXDOMAIN" : "NOERROR", answers, authority: [] };
    },
  });
});
afterAll(async () => {
  udp.close();
  await leftovers();
  await Promise.all([site.close(), sentinel.close(), dns.close()]);
});
beforeEach(() => {
  flips = 0;
  datagrams = 0;
});

/** Ways over TCP to the path of the same name. Each is proven to work if the rules allow it. */
const WAYS: Readonly<Record<string, string>> = {
  fetch: `<script>fetch("${url("fetch")}", { mode: "no-cors" }).catch(() => 0)</script>`,
  xhr: `<script>const x = new XMLHttpRequest(); x.open("GET", "${url("xhr")}"); x.send()</script>`,
  img: `<img src="${url("img")}">`,
  iframe: `<iframe src="${url("iframe")}"></iframe>`,
  object: `<object data="${url("object")}"></object>`,
  script: `<script src="${url("script")}"></script>`,
  css: `<link rel=stylesheet href="${url("css")}">`,
  import: `<style>@import "${url("import")}";</style>`,
  font: `<style>@font-face { font-family: f; src: url(${url("font")}) } p { font-family: f }</style><p>x`,
  video: `<video src="${url("video")}" autoplay muted></video>`,
  ws: `<script>new WebSocket("${url("ws", "ws")}")</script>`,
  events: `<script>new EventSource("${url("events")}")</script>`,
  beacon: `<script>navigator.sendBeacon("${url("beacon")}", "x")</script>`,
  form: `<iframe name=f></iframe><form target=f action="${url("form")}"></form><script>document.forms[0].submit()</script>`,
  worker: `<script>new Worker("/worker.js")</script>`,
  redirected: `<iframe src="/redirect"></iframe>`,
  name: `<img src="http://inside.test:PORT/name">`,
  prefetch: `<link rel=prefetch href="${url("prefetch")}">`,
  preload: `<link rel=preload as=image href="${url("preload")}">`,
};

/** Ways that are closed regardless of the rules, that need no connection, or that ignore proxies. */
const OTHERS: Readonly<Record<string, string>> = {
  "pop-ups and pings": `<a ping="${url("ping")}" href="#x" id=a>x</a><script>open("${url("popup")}"); document.getElementById("a").click()</script>`,
  "numbers for addresses": images(["2130706434", "0x7f.2", "0177.0.0.2", "[::ffff:127.0.0.2]", "127.2"]),
  localhost: images(["localhost", "a.localhost", "[::1]", "0.0.0.0", "[::]"]),
  "files and other schemes": `<iframe src="file:///etc/passwd"></iframe><img src="ftp://${INSIDE}/x"><script src="chrome://version"></script>
    <iframe src="view-source:${url("view")}"></iframe>`,
  WebRTC: `<script>const turn = "turn:${INSIDE}:PORT?transport=";
    const c = new RTCPeerConnection({ iceServers: [{ urls: ["stun:${INSIDE}:PORT", turn + "udp", turn + "tcp"], username: "u", credential: "p" }] });
    c.createDataChannel("x"); c.createOffer().then((offer) => c.setLocalDescription(offer))</script>`,
  WebTransport: `<script>try { new WebTransport("${url("wt", "https")}").ready.catch(() => 0) } catch {}</script>`,
};

function url(path: string, scheme = "http"): string {
  return `${scheme}://${INSIDE}:PORT/${path}`;
}

function images(hosts: readonly string[]): string {
  return hosts.map((host) => `<img src="http://${host}:PORT/n">`).join("");
}

const inside = (path: string): string => url(path).replace("PORT", String(site.port));

function show(parts: readonly string[]): void {
  html = `<!doctype html><h1>x</h1>${parts.join("")}`.replaceAll("PORT", String(site.port));
  redirect = inside("redirected");
}

/** Returns the paths that the server behind the forbidden address received while a page was loaded. */
async function seenBy(egress: Egress): Promise<{ readonly paths: readonly string[]; readonly load: PageLoad }> {
  const before = sentinel.requests.length;
  const accepted = sentinel.accepted();
  const load = loadOf(await agentBrowser({ egress, dnsServers: [dns.address] })(`${site.url}/`));
  const paths = sentinel.requests.slice(before).map(({ path }) => path.slice(1).split("?", 1)[0] ?? "");
  if (egress === closed) expect(sentinel.accepted()).toBe(accepted);
  return { paths, load };
}

describeBrowser("a page's ways to a refused address", () => {
  it("reach nothing", async () => {
    show(Object.values(WAYS));
    const { paths, load } = await seenBy(closed);
    expect(paths).toEqual([]);
    expect(load.refusedConnections).toBeGreaterThan(10);
  });

  it("reach the server if the rules allow it, which proves that the test can fail", async () => {
    show(Object.values(WAYS));
    const { paths } = await seenBy(opened);
    // A WebSocket is an upgrade, which this server does not count as a request.
    const wanted = Object.keys(WAYS).filter((way) => way !== "ws");
    expect(wanted.filter((way) => !paths.includes(way))).toEqual([]);
  });

  it.each(Object.keys(OTHERS))("reach nothing by %s", async (way) => {
    show([OTHERS[way] ?? ""]);
    expect((await seenBy(closed)).paths).toEqual([]);
    expect(datagrams).toBe(0);
  });

  it("reach nothing by WebSocket, which makes a separate connection if it is allowed", async () => {
    show([WAYS["ws"] ?? ""]);
    await seenBy(closed);
    const accepted = sentinel.accepted();
    await seenBy(opened);
    expect(sentinel.accepted()).toBe(accepted + 1);
  });
});

describeBrowser("a document at a refused address", () => {
  const load = (path: string) => agentBrowser({ egress: closed, dnsServers: [dns.address] })(path);

  it("is refused by address, by name, by redirect and by script", async () => {
    const before = sentinel.accepted();
    expect(failureOf(await load(inside("")))).toBe("refused");
    expect(failureOf(await load(`http://inside.test:${site.port}/`))).toBe("refused");
    for (const to of [
      inside("x"),
      `http://inside.test:${site.port}/`,
      "http://169.254.169.254/",
      "http://localhost/",
    ]) {
      redirect = to;
      expect(failureOf(await load(`${site.url}/redirect`)), to).toBe("refused");
    }
    html = `<script>location = "${inside("script")}"</script>`;
    expect(failureOf(await load(`${site.url}/`))).toBe("refused");
    expect(sentinel.accepted()).toBe(before);
  });

  it("is the one of the first lookup, even if its name changes later", async () => {
    html = `<!doctype html><h1>x</h1><script>
      let n = 0; const again = () => fetch("/again" + n, { cache: "no-store" }).finally(() => { if (++n < 5) again(); }); again();</script>`;
    const before = sentinel.accepted();
    const outcome = await load(`http://rebinding.test:${site.port}/`);
    expect(loadOf(outcome).finalUrl).toBe(`http://rebinding.test:${site.port}/`);
    expect([sentinel.accepted() - before, flips]).toEqual([0, 1]);
  });
});
