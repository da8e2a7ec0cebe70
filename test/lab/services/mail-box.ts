// Program of a mail server in the lab that accepts every mail and prints each as a line of JSON (a BoxedMail). It reads
// one line of JSON on its standard input ({host, port}), prints "ready", and runs until that input ends.
import { createInterface } from "node:readline";
import type { BoxedMail } from "#test/lab/services/mails.ts";
import { startMailSink } from "#test/servers/mail-sink.ts";

const input = createInterface({ input: process.stdin });
input.on("close", () => process.exit(0));
input.once("line", (line) => {
  const place = JSON.parse(line) as { readonly host: string; readonly port: number };
  const sink = startMailSink({
    ...place,
    onMessage(mail) {
      const boxed: BoxedMail = {
        to: mail.to,
        kind: mail.header("x-service-event") ?? "",
        subject: mail.header("subject") ?? "",
        messageId: mail.header("message-id") ?? "",
      };
      process.stdout.write(`mail ${JSON.stringify(boxed)}\n`);
      return "accept";
    },
  });
  void sink.then(() => process.stdout.write("ready\n"));
});
