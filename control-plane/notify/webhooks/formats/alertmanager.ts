import { describeAlert, listLines, type Alert } from "#control-plane/notify/webhooks/formats/alert.ts";
import type { AlertId, AlertName } from "#control-plane/notify/webhooks/formats/dedup.ts";
import { completeHost } from "#control-plane/notify/webhooks/formats/endpoint.ts";
import { fit } from "#control-plane/notify/webhooks/formats/fit.ts";
import { JSON_HEADERS, type Format, type FormatEvent } from "#control-plane/notify/webhooks/formats/format.ts";
import { findText } from "#control-plane/notify/webhooks/formats/reference.ts";
import type { Refusal } from "#control-plane/notify/webhooks/formats/refusal.ts";

/** Alerts that no later event ends: people read them once. */
const MOMENTARY: ReadonlySet<AlertName> = new Set(["CertificateChanged", "PageChanged", "Test"]);
const HOUR_MS = 3_600_000;
/**
 * How long an alert is firing that nothing resolves. Without an end, Alertmanager resolves it after its resolve_timeout
 * (5 minutes), because Prometheus repeats its alerts; an event is sent once.
 */
const LASTING_MS = 30 * 24 * HOUR_MS;
/**
 * How long before its event a problem is over at the latest. An end in the future, by a clock that is behind, would be
 * overruled by the later end that the firing alert was given.
 */
const CLOCK_MARGIN_MS = 60_000;
const MOST_DESCRIPTION = 4_096;

/**
 * Alertmanager, "API v2", POST /api/v2/alerts (api/v2/openapi.yaml in prometheus/alertmanager: postableAlerts): what
 * begins has an end in the future, what is over one in the past. Alerts with the same labels are one alert, so labels
 * hold only what no change of the monitor alters.
 */
export const alertmanager: Format = {
  name: "alertmanager",
  title: "Alertmanager",
  keepsAlerts: true,
  options: [],
  refusal: readRefusal,
  build(event, target) {
    const { url } = target;
    const alert = describeAlert(event, target);
    const { opens, resolves } = alert;
    const alerts = [
      ...(opens === null ? [] : [{ ...describe(alert, opens), ...firingTimes(event, alert, opens) }]),
      ...resolves.map((id) => ({ ...describe(alert, id), ...resolvedTimes(event, alert, id) })),
    ];
    return { url: completeHost(url, "/api/v2/alerts"), headers: JSON_HEADERS, body: JSON.stringify(alerts) };
  },
};

function describe(alert: Alert, { name, key, severity, monitorId }: AlertId): object {
  const [first] = alert.links;
  return {
    labels: {
      alertname: `Vantage${name}`,
      severity,
      ...(monitorId === null ? {} : { monitor_id: String(monitorId) }),
      vantage_key: key,
    },
    annotations: { summary: alert.summary, description: fit(listLines(alert).join("\n"), MOST_DESCRIPTION) },
    ...(first === undefined ? {} : { generatorURL: first[1] }),
  };
}

interface Times {
  /** Absent: when it ended. */
  readonly startsAt?: string;
  readonly endsAt: string;
}

function firingTimes({ createdAt }: FormatEvent, { startedAt }: Alert, { name }: AlertId): Times {
  const lasts = MOMENTARY.has(name) ? HOUR_MS : LASTING_MS;
  return {
    startsAt: startedAt?.toISOString() ?? createdAt,
    endsAt: new Date(Date.parse(createdAt) + lasts).toISOString(),
  };
}

function resolvedTimes({ createdAt }: FormatEvent, { startedAt, durationSeconds }: Alert, { name }: AlertId): Times {
  const latest = Date.parse(createdAt) - CLOCK_MARGIN_MS;
  if (name !== "MonitorDown" || startedAt === null) return { endsAt: new Date(latest).toISOString() };
  const recovered = startedAt.getTime() + (durationSeconds ?? 0) * 1_000;
  // An end before the beginning is refused.
  const end = Math.max(Math.min(recovered, latest), startedAt.getTime());
  return { startsAt: startedAt.toISOString(), endsAt: new Date(end).toISOString() };
}

/** Errors of the API and of its validation, whose codes begin with 6; proxies write `status` as Prometheus does. */
function readRefusal(bodyStart: string): Refusal | null {
  const code = findText(bodyStart, ["code"]);
  if (code !== null && findText(bodyStart, ["message"]) !== null) return /^[46]/.test(code) ? "permanent" : "temporary";
  return findText(bodyStart, ["status"]) === "error" ? "temporary" : null;
}
