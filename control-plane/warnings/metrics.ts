import { Gauge, type Registry } from "prom-client";
import { WARNING_CODES, type WarningCode } from "#control-plane/warnings/codes.ts";

/** Counts the warnings of each code that has any. If it rejects, the gauge is left out of the scrape. */
type CountWarnings = () => Promise<readonly { readonly code: WarningCode; readonly count: number }[]>;

/** Registers the gauge of warnings. It is read from the database and is the same on every replica. */
export function registerWarningMetrics(registry: Registry, count: CountWarnings): void {
  registry.registerMetric(
    new Gauge({
      name: "vantage_warning",
      help: "Operator warnings by code (GET /api/admin/warnings); 0: there is none",
      labelNames: ["code"],
      registers: [],
      async collect() {
        const counts = await count().catch(() => null);
        this.reset();
        if (counts === null) return;
        for (const code of WARNING_CODES) this.set({ code }, 0);
        for (const { code, count: warnings } of counts) this.set({ code }, warnings);
      },
    }),
  );
}
