import { Type } from "typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery } from "#control-plane/notify/deliveries/delivery.ts";
import { refuseField } from "#control-plane/http/errors.ts";
import { readWrite } from "#control-plane/http/params.ts";
import { callerOf } from "#control-plane/http/request.ts";
import type { Writes } from "#control-plane/http/writes.ts";
import { requireWritten } from "#control-plane/http/written.ts";
import type { TestMailReference, TestMails } from "#control-plane/notify/mail/test-mail/test-mails.ts";
import type { Monitors } from "#control-plane/monitors/monitors.ts";

/** Answer of a test of the mails about a monitor. */
export const MAIL_TESTED = Type.Object({
  results: Type.Array(
    Type.Object({
      email: Type.String({ description: "Address" }),
      status: Type.Enum(["sent", "failed", "not_confirmed", "unsubscribed"], {
        description:
          "sent: the mail server has taken it; failed: it has not, as message says; not_confirmed, unsubscribed: nothing " +
          "was sent",
      }),
      message: Type.String({ description: "The same for people, with the answer of the mail server" }),
    }),
    { description: "Every address of the monitor, in its order" },
  ),
});

/** What the test uses. */
interface TestMailDeps {
  readonly sql: Sql;
  readonly writes: Writes;
  readonly monitors: Pick<Monitors, "testMail">;
  readonly testMails: TestMails;
}

/** Sends a test mail to every recipient of a monitor, waits for the results and answers them. */
export function sendTestMail(
  { sql, writes, monitors, testMails }: TestMailDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  id: number | undefined,
): Promise<FastifyReply> {
  const { accountId } = callerOf(request);
  readWrite(Type.Object({}), request);
  if (id === undefined) throw refuseField({ field: "id", reason: "required", message: "is required" });
  let sent: readonly ClaimedDelivery[] = [];
  return writes.runEffect<TestMailReference>(request, reply, {
    mostMs: testMails.mostMs,
    async begin(tx) {
      const monitor = requireWritten(await monitors.testMail(tx, { accountId, id }));
      const { reference, claimed } = await testMails.begin(tx, { accountId, id, ...monitor });
      sent = claimed;
      return reference;
    },
    perform: () => testMails.send(sent),
    read: async (reference) => ({ data: { results: await testMails.read(sql, reference) } }),
  });
}
