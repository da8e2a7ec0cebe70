import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Handler } from "#test/servers/http.ts";
import { jpeg, png } from "#test/support/images.ts";
import { shopPage } from "#test/support/stand-ins/shop-page.ts";
import { portPart, type Ports } from "#test/support/stand-ins/places.ts";

/** Names that the shop's web servers answer for. */
export const SHOP_NAMES = ["shop.test", "www.shop.test", "img.shop.test", "mta-sts.shop.test", "go.test"] as const;

/** Origin that is allowed to read the shop's stock (CORS). */
export const PARTNER = "https://partner.test";

type Fields = Readonly<Record<string, string | readonly string[]>>;

interface File {
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Fields;
}

/** Answers as the shop does over https. `ports` is called at each request, when they are known. */
export function secureShop(ports: () => Ports): Handler {
  return (request, response, { path, method }) => {
    const { https, http } = ports();
    const origin = `https://shop.test${portPart("https", https)}`;
    const host = hostOf(request.headers);
    const [way = ""] = path.split("?", 1);
    const send = (status: number, headers: Fields, body: string | Uint8Array = ""): true => {
      const all = Object.entries({ ...STANDING, ...headers }).map(([name, value]) => [
        name,
        typeof value === "string" ? value : [...value],
      ]);
      response.writeHead(status, Object.fromEntries(all) as Record<string, string>).end(body);
      return true;
    };
    if (host === "go.test") return send(302, { location: `${origin}/new?utm_source=letter&utm_medium=mail&id=4` });
    if (host === "mta-sts.shop.test") return send(200, { "content-type": "text/plain" }, MTA_STS);
    if (host === "www.shop.test") return send(301, { location: `${origin}${path}` });
    if (way === "/old") return send(301, { location: "/new", "set-cookie": "seen=1; Path=/; Secure; SameSite=Lax" });
    if (way === "/api/stock.json")
      return send(
        method === "OPTIONS" ? 204 : 200,
        stockHeaders(request.headers.origin),
        method === "OPTIONS" ? "" : STOCK,
      );
    if (method === "OPTIONS") return send(405, { allow: "GET, HEAD" });
    const plain = `http://img.shop.test${portPart("http", http)}`;
    const file =
      way === "/" || way === "/new" ? startPage(origin, plain, https) : (textFiles(origin)[way] ?? FILES[way]);
    if (file === undefined) return send(404, { "content-type": "text/html; charset=utf-8" }, NOT_FOUND);
    const packs = typeof file.body === "string" && /\bgzip\b/.test(String(request.headers["accept-encoding"]));
    const body = packs ? gzipSync(file.body) : file.body;
    return send(
      200,
      {
        "content-type": file.type,
        "cache-control": "public, max-age=604800",
        ...(packs ? { "content-encoding": "gzip" } : {}),
        "content-length": String(Buffer.byteLength(body)),
        ...file.headers,
      },
      method === "HEAD" ? "" : body,
    );
  };
}

/** Answers as the shop does over http: everything except the pictures redirects to https. */
export function plainShop(ports: () => Ports): Handler {
  return (request, response, { path }) => {
    const host = hostOf(request.headers);
    const [way = ""] = path.split("?", 1);
    const picture = host === "img.shop.test" ? FILES[way] : undefined;
    if (picture !== undefined) response.writeHead(200, { "content-type": picture.type }).end(picture.body);
    else response.writeHead(301, { location: `https://${host}${portPart("https", ports().https)}${path}` }).end();
    return true;
  };
}

/** Returns the host of a request. HTTP/2 has it in a separate field. */
function hostOf(headers: { readonly host?: string | undefined; readonly ":authority"?: string | undefined }): string {
  return (headers[":authority"] ?? headers.host ?? "").replace(/:\d+$/, "");
}

const STANDING: Fields = {
  server: "nginx/1.26.2",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "referrer-policy": "strict-origin-when-cross-origin",
};

function startPage(origin: string, plain: string, httpsPort: number): File {
  return {
    type: "text/html; charset=utf-8",
    body: shopPage(origin, plain),
    headers: {
      "content-security-policy":
        "default-src 'self'; script-src 'self' 'nonce-Zm9ydHktdHdvLW9jdGV0cw' https://www.googletagmanager.com; " +
        `img-src 'self' ${plain} data:; style-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; ` +
        "form-action 'self'; frame-ancestors 'none'; report-uri /csp-report",
      "cache-control": "max-age=300",
      etag: '"5e8-1a2b3c"',
      vary: "Accept-Encoding",
      "alt-svc": `h3=":${httpsPort}"; ma=86400`,
      "x-frame-options": "DENY",
      "permissions-policy": "geolocation=(), camera=()",
      "cross-origin-opener-policy": "same-origin",
      link: `<${origin}/wp-json/>; rel="https://api.w.org/"`,
      "set-cookie": [
        "wp_session=b7f3c2e9d1; Path=/; Secure; HttpOnly; SameSite=Lax",
        "woocommerce_cart_hash=0; Path=/; Secure; SameSite=Lax",
        "_ga=GA1.1.100.200; Path=/; Domain=shop.test; Max-Age=31536000",
      ],
    },
  };
}

function stockHeaders(origin: string | undefined): Fields {
  const allowed = origin === PARTNER ? { "access-control-allow-origin": PARTNER, "access-control-max-age": "600" } : {};
  return {
    "content-type": "application/json",
    vary: "Origin",
    ...allowed,
    ...(origin === PARTNER
      ? { "access-control-allow-methods": "GET", "access-control-allow-headers": "x-shop-key" }
      : {}),
  };
}

const STOCK = JSON.stringify({ "LANTERN-4": 12, "READING-1": 3 });
const MTA_STS = "version: STSv1\r\nmode: enforce\r\nmx: mail.shop.test\r\nmax_age: 2419200\r\n";
const NOT_FOUND = "<!doctype html><html lang=en><title>Not found</title><h1>Nothing here</h1>";

/** Files that contain the shop's own address. */
function textFiles(origin: string): Readonly<Record<string, File>> {
  const plain = "text/plain; charset=utf-8";
  return {
    "/robots.txt": {
      type: plain,
      body: `User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nDisallow: /cart/\nDisallow: /*?sort=\nAllow: /\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nSitemap: ${origin}/sitemap.xml\n`,
    },
    "/sitemap.xml": {
      type: "application/xml",
      body: `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${origin}/</loc></url><url><loc>${origin}/lamps/</loc></url></urlset>\n`,
    },
    "/llms.txt": {
      type: plain,
      body: `# Oak & Lumen\n\n> Hand-made lamps of oak and glass.\n\n## Shop\n\n- [Lamps](${origin}/lamps/): all lamps with prices\n- [Repairs](${origin}/repairs/): how to send one in\n`,
    },
    "/.well-known/security.txt": {
      type: plain,
      body: `Contact: mailto:security@shop.test\nExpires: 2099-12-31T23:00:00Z\nPreferred-Languages: en, de\nCanonical: ${origin}/.well-known/security.txt\n`,
    },
    "/wp-json/": {
      type: "application/json",
      body: JSON.stringify({ name: "Oak & Lumen", url: origin, namespaces: ["wp/v2", "wc/v3"] }),
    },
  };
}

const SCRIPT = "text/javascript; charset=utf-8";
/** Returns text that compresses about as well as real scripts and style sheets do. */
function filled(bytes: number, line: (words: string) => string): string {
  let text = "";
  for (let count = 0; text.length < bytes; count += 1) {
    const words = createHash("sha256").update(String(count)).digest("hex");
    text += line(words.slice(0, 24));
  }
  return text.slice(0, bytes);
}
const padded = (head: Uint8Array, bytes: number): Buffer => Buffer.concat([head, Buffer.alloc(bytes - head.length, 7)]);

const FILES: Readonly<Record<string, File>> = {
  "/favicon.ico": { type: "image/x-icon", body: Buffer.alloc(1_150, 1) },
  "/logo.svg": {
    type: "image/svg+xml",
    body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4"/></svg>',
  },
  "/feed.xml": { type: "application/rss+xml", body: '<rss version="2.0"><channel><title>News</title></channel></rss>' },
  "/assets/lato.woff2": { type: "font/woff2", body: padded(Buffer.from("wOF2"), 23_000) },
  "/assets/card.png": { type: "image/png", body: padded(png(1200, 630), 64_000) },
  "/assets/hero.webp": { type: "image/webp", body: padded(Buffer.from("RIFF\0\0\0\0WEBPVP8 "), 84_000) },
  "/assets/lantern.jpg": { type: "image/jpeg", body: padded(jpeg(400, 400), 31_000) },
  "/assets/reading.jpg": { type: "image/jpeg", body: padded(jpeg(400, 400), 28_000) },
  "/wp-content/themes/storefront/style.css": {
    type: "text/css",
    body: filled(18_000, (words) => `.lamp-${words} { color: #321; margin: 1rem auto; display: grid }\n`),
  },
  "/wp-includes/js/jquery/jquery.min.js": {
    type: SCRIPT,
    body: filled(87_000, (words) => `function lamp_${words}(on) { return on ? 1 : 0 }\n`),
  },
  "/wp-content/plugins/woocommerce/assets/js/frontend/add-to-cart.min.js": {
    type: SCRIPT,
    body: filled(3_000, (words) => `addToCart("${words}", 4);\n`),
  },
};
