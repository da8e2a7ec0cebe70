import { STS_POLICY } from "#test/lab/services/mail-records.ts";
import type { Handler } from "#test/servers/http.ts";

interface Page {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Pages of the lab's site in addition to the routes of test/servers/http-routes.ts, by path. */
const PAGES: Readonly<Record<string, Page>> = {
  "/.well-known/mta-sts.txt": { headers: { "content-type": "text/plain" }, body: STS_POLICY },
  "/site/secure": {
    headers: {
      "content-security-policy": POLICY,
      "strict-transport-security": "max-age=63072000; includeSubDomains; preload",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    },
  },
  "/site/mixed": {
    body: page('<img src="http://web.lab.test/a.png"><script src="http://web.lab.test/a.js"></script>'),
  },
  "/site/refresh": { headers: { refresh: "0; url=/site/secure" } },
  "/site/meta": { body: page("", '<meta http-equiv="refresh" content="0; url=/site/secure">') },
  "/site/cached": {
    headers: { "cache-control": "public, max-age=600", etag: '"one"', vary: "Accept-Encoding" },
  },
};

/** Answers with a page of the site. /site/cors allows any origin, /site/cookies sets two cookies. */
export const answerSite: Handler = (_request, response, { path, headers }) => {
  if (path === "/site/cors") {
    const origin = headers.find(([name]) => name.toLowerCase() === "origin")?.[1];
    if (origin !== undefined) response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-allow-credentials", "true");
    response.setHeader("vary", "Origin");
    response.end("{}\n");
    return true;
  }
  if (path === "/site/cookies") {
    response.setHeader("set-cookie", [
      "__Host-session=1; Secure; HttpOnly; Path=/; SameSite=Lax",
      "tracker=1; Domain=lab.test",
    ]);
    response.end(page(""));
    return true;
  }
  const found = PAGES[path];
  if (found === undefined) return false;
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...found.headers });
  response.end(found.body ?? page("<p>Hello</p>"));
  return true;
};

function page(content: string, head = ""): string {
  return `<!doctype html><html lang="en"><head><title>Lab</title>${head}</head><body>${content}</body></html>\n`;
}
