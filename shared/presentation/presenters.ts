import type { Presenter } from "#shared/presentation/presenter.ts";
import { check } from "#shared/presentation/tools/check.ts";
import { cms } from "#shared/presentation/tools/cms.ts";
import { cookie } from "#shared/presentation/tools/cookie.ts";
import { cors } from "#shared/presentation/tools/cors.ts";
import { csp } from "#shared/presentation/tools/csp.ts";
import { dkim } from "#shared/presentation/tools/dkim.ts";
import { dns } from "#shared/presentation/tools/dns.ts";
import { emailCheck } from "#shared/presentation/tools/email-check.ts";
import { health } from "#shared/presentation/tools/health.ts";
import { httpStatus } from "#shared/presentation/tools/http-status.ts";
import { mx } from "#shared/presentation/tools/mx.ts";
import { ping } from "#shared/presentation/tools/ping.ts";
import { propagation } from "#shared/presentation/tools/propagation.ts";
import { protocol } from "#shared/presentation/tools/protocol.ts";
import { redirects } from "#shared/presentation/tools/redirects.ts";
import { resolveUrl } from "#shared/presentation/tools/resolve-url.ts";
import { security } from "#shared/presentation/tools/security.ts";
import { ssl } from "#shared/presentation/tools/ssl.ts";
import { techDetect } from "#shared/presentation/tools/tech-detect.ts";
import { traceroute } from "#shared/presentation/tools/traceroute.ts";
import { urlExpand } from "#shared/presentation/tools/url-expand.ts";
import { whois } from "#shared/presentation/tools/whois.ts";

const PRESENTERS: readonly Presenter[] = [
  check,
  cms,
  cookie,
  cors,
  csp,
  dkim,
  dns,
  emailCheck,
  health,
  httpStatus,
  mx,
  ping,
  propagation,
  protocol,
  redirects,
  resolveUrl,
  security,
  ssl,
  techDetect,
  traceroute,
  urlExpand,
  whois,
];

/** Every presenter by the name of its tool. */
export const presentersByTool: ReadonlyMap<string, Presenter> = new Map(
  PRESENTERS.map((presenter) => [presenter.contract.name, presenter]),
);
