import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { record, text, word } from "#shared/tools/shapes.ts";

function family(name: string) {
  return record(
    {
      status: word(
        ["ok", "failed", "absent", "not_tried"],
        "ok: a connection stood; failed: the target's fault; absent: the host has no such address; not_tried: not known",
      ),
      reason: Nullable(
        text(
          "failed: refused, timeout, reset or unreachable. not_tried: no_route (this probe has no such route), dns_failed, " +
            "target_not_allowed, out_of_time, not_asked or local_error. Else null",
        ),
      ),
      ip: Nullable(text("Address connected to, or tried; null where there is none")),
      connect_ms: Nullable(
        Type.Number({ minimum: 0, description: "TCP connection, milliseconds; null where none stood" }),
      ),
    },
    `Whether the final host can be connected to over ${name}`,
  );
}

/** Whether a host can be connected to, by address family. */
export const Families = record(
  { ipv4: family("IPv4"), ipv6: family("IPv6") },
  "Both address families of the final host: the one used, and one connection to an address of the other",
);
