import { openCall, callService, field, readAnswer } from "#shared/client/call.ts";
import { operatorToken } from "#shared/client/admin.ts";
import { fail, ok, warn, type Finding, type Patient } from "#shared/client/doctor/finding.ts";
import { isRunningHere } from "#shared/client/doctor/network.ts";
import { parseJson } from "#shared/client/event-stream.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import type { Settings } from "#shared/settings/settings.ts";

/** The largest body that the service takes (control-plane/http/body.ts), without the quotation marks around it, bytes. */
const LARGEST_BYTES = 8_388_608 - 2;
/** The service pauses for a second after the first byte. What arrives closer together was held back on the way. */
const TOGETHER_MS = 300;
const TIMEOUT_MS = 20_000;
/** A proxy holds every answer back; a busy moment of this machine makes only one look like that. */
const HELD_BACK = 3;

/** Checks the running service: what it warns of itself, and its public URL, through the proxy in front of it. */
export async function checkService(patient: Patient): Promise<Finding[]> {
  const { settings, directory } = patient;
  if (!(await isRunningHere(settings))) return [];
  const token = operatorToken(settings, directory);
  if (token === null)
    return [
      warn(
        "service",
        "it runs, and is not asked: the operator's token cannot be read",
        "run doctor as the user of the control plane, or set VANTAGE_ADMIN_TOKEN",
      ),
    ];
  return [...(await checkWarnings(settings, token)), ...(await checkBaseUrl(patient, token))];
}

async function checkWarnings(settings: Settings, token: string): Promise<Finding[]> {
  const own = listenerUrl(settings.httpAddr, settings.tlsCert !== null);
  const asked = await callService(`${own}/api/admin/warnings`, { own: true, token }).catch(() => null);
  const rows = field(asked?.body, "data");
  if (asked?.status !== 200 || !Array.isArray(rows)) {
    const said = asked === null ? "does not answer" : `answers ${asked.status}`;
    return [
      fail(
        "service",
        `${own}/api/admin/warnings ${said}`,
        "see its log; if it answers 401, set VANTAGE_ADMIN_TOKEN to its own",
      ),
    ];
  }
  if (rows.length === 0) return [ok("service", "it runs, and warns of nothing")];
  return rows.map((row: unknown) => {
    const message = String(field(row, "message"));
    // The last sentence says what to do.
    const end = message.lastIndexOf(". ", message.length - 2);
    const [what, todo] =
      end === -1 ? [message, "see GET /api/admin/warnings"] : [message.slice(0, end), message.slice(end + 2)];
    return warn("service", `${String(field(row, "code"))}: ${what}`, todo);
  });
}

/** How a request arrived at the service, or what answered in its place. */
type Seen =
  | { readonly kind: "seen"; readonly data: unknown; readonly isHeldBack: boolean }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "silent"; readonly why: string };

/** Sends a body through the public URL. */
async function send({ settings, now }: Patient, token: string, bytes: number): Promise<Seen> {
  try {
    const response = await openCall(`${settings.baseUrl ?? ""}/api/admin/request`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify("x".repeat(bytes)),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    let first: number | null = null;
    response.once("data", () => (first = now().getTime()));
    const body = parseJson(await readAnswer(response));
    const data = field(body, "data");
    const { statusCode: status = 0 } = response;
    if (status !== 200 || typeof field(data, "peer_address") !== "string") return { kind: "refused", status };
    return { kind: "seen", data, isHeldBack: first === null || now().getTime() - first < TOGETHER_MS };
  } catch (error) {
    return { kind: "silent", why: describeError(error) };
  }
}

/** Checks that requests to VANTAGE_BASE_URL arrive as they were sent, and answers as they were written. */
async function checkBaseUrl(patient: Patient, token: string): Promise<Finding[]> {
  const { baseUrl } = patient.settings;
  if (baseUrl === null) return [];
  const large = await send(patient, token, LARGEST_BYTES);
  const seen = large.kind === "seen" ? large : await send(patient, token, 0);
  if (seen.kind === "silent") {
    return [
      fail(
        "base url",
        `${baseUrl} does not answer (${seen.why})`,
        "check its name, its certificate and the proxy, or correct VANTAGE_BASE_URL",
      ),
    ];
  }
  if (seen.kind === "refused") return [fail("base url", ...explainRefusal(baseUrl, seen.status))];
  const findings = [
    ...(large.kind === "seen"
      ? []
      : [
          warn(
            "base url",
            `the proxy takes no body of 8 MB${large.kind === "refused" ? ` (it answers ${large.status})` : ""}: files cannot be imported`,
            "let it pass (nginx: client_max_body_size 9m)",
          ),
        ]),
    ...findChanges(patient.settings, new URL(baseUrl), seen.data),
    ...((await isHeldBack(patient, token, seen))
      ? [
          warn(
            "base url",
            "the proxy holds answers back until they are complete: results do not arrive one by one",
            "let it pass them on at once (nginx: proxy_buffering off)",
          ),
        ]
      : []),
  ];
  return findings.length > 0 ? findings : [ok("base url", `requests to ${baseUrl} arrive as they were sent`)];
}

/** Reports whether this answer and the next ones arrived at once with their end. */
async function isHeldBack(patient: Patient, token: string, first: Seen): Promise<boolean> {
  let [seen, times] = [first, 1];
  while (seen.kind === "seen" && seen.isHeldBack && times < HELD_BACK) {
    seen = await send(patient, token, 0);
    times += 1;
  }
  return seen.kind === "seen" && seen.isHeldBack;
}

function explainRefusal(baseUrl: string, status: number): readonly [string, string] {
  if (status === 401)
    return [
      `${baseUrl} answers 401: the Authorization field does not arrive, or another service answers there`,
      "let the proxy pass Authorization on, or correct VANTAGE_BASE_URL",
    ];
  return [
    `${baseUrl} answers ${status}, and not as this service does`,
    "let the proxy pass every path to VANTAGE_HTTP_ADDR, or correct VANTAGE_BASE_URL",
  ];
}

function findChanges(settings: Settings, base: URL, data: unknown): Finding[] {
  const of = (name: string): string => String(field(data, name));
  const peer = of("peer_address");
  const findings: Finding[] = [];
  if (of("host").toLowerCase() !== base.host)
    findings.push(
      fail(
        "base url",
        `requests to ${base.host} arrive with the host ${of("host")}: forms are refused, and status pages of their own domain are not found`,
        "let the proxy pass Host on (nginx: proxy_set_header Host $http_host)",
      ),
    );
  if (`${of("scheme")}:` !== base.protocol)
    findings.push(
      warn(
        "base url",
        `requests to ${base.protocol}// arrive as ${of("scheme")}`,
        `let the proxy set X-Forwarded-Proto (nginx: proxy_set_header X-Forwarded-Proto $scheme), and set VANTAGE_TRUSTED_PROXIES=${peer}`,
      ),
    );
  const isDirect = base.port === String(settings.httpAddr.port) || settings.tlsCert !== null;
  if (!isDirect && field(data, "is_forwarded") !== true)
    findings.push(
      warn(
        "base url",
        `all callers appear with the address of the proxy, ${peer}: they share one limit of requests`,
        `let the proxy set X-Forwarded-For (nginx: proxy_set_header X-Forwarded-For $remote_addr), and set VANTAGE_TRUSTED_PROXIES=${peer}`,
      ),
    );
  if (of("http_version") === "1.0")
    findings.push(
      warn(
        "base url",
        "the proxy speaks HTTP/1.0 with the service: each request needs a new connection, and streams have no length",
        "let it speak HTTP/1.1 (nginx: proxy_http_version 1.1)",
      ),
    );
  return findings;
}
