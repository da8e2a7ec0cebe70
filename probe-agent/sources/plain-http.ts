import type { HttpFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { Hop, PageSnapshot } from "#probe-agent/port/http.ts";

/** Finds where http:// leads. If the page itself was requested by http://, its own redirects already show this. */
export async function askPlainHttp(net: Net, page: PageSnapshot, port: number): Promise<HttpFacts> {
  if (page.url.startsWith("http:")) return { known: true, open: true, route: routeOf(page.hops) };
  const url = new URL(page.url);
  url.protocol = "http:";
  url.port = String(port);
  const fetched = await net.http.fetch({ url: url.href, method: "GET", follow: true, maxBodyBytes: 0 });
  if (fetched.status === "ok") return { known: true, open: true, route: routeOf(fetched.data.hops) };
  if (fetched.status !== "failed") return unknown("http:// leads to an address that may not be contacted.");
  const closed = fetched.stage === "connect" && fetched.source === "target";
  return closed
    ? { known: true, open: false }
    : unknown(`The behaviour of http:// could not be determined: ${fetched.message}.`);
}

function routeOf(hops: readonly Hop[]): { url: string; status: number }[] {
  return hops.map((hop) => ({ url: hop.url, status: hop.code }));
}
