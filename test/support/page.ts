import { startHttpServer, type HttpServer } from "#test/servers/http.ts";

/** Answer of a path of a test site. A string is HTML. */
export type SitePath =
  | string
  | {
      readonly status?: number;
      readonly type?: string | null;
      readonly headers?: Readonly<Record<string, string | readonly string[]>>;
      readonly body?: string | Uint8Array;
    };

/** Starts a site of fixed answers on loopback. Answers have a length unless they are chunked. Other paths are 404. */
export function startSite(paths: Readonly<Record<string, SitePath>>): Promise<HttpServer> {
  return startHttpServer({
    handler: (_request, response, { path }) => {
      const answer = Object.hasOwn(paths, path) ? paths[path] : undefined;
      if (answer === undefined) return false;
      const {
        status = 200,
        type = "text/html; charset=utf-8",
        headers = {},
        body = "",
      } = typeof answer === "string" ? { body: answer } : answer;
      const fields = Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === "string" ? value : [...value],
      ]);
      const known = {
        ...(type === null ? {} : { "content-type": type }),
        ...(Object.hasOwn(headers, "transfer-encoding") ? {} : { "content-length": Buffer.byteLength(body) }),
      };
      response.writeHead(status, { ...known, ...(Object.fromEntries(fields) as Record<string, string>) }).end(body);
      return true;
    },
  });
}
