import { Button, Code, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { sayAcks } from "./acks";
import { Failure } from "./Failure";
import { say } from "./notices";
import { useCommand } from "./useCommand";

/** Lets an operator hand in a file of acknowledgments, and tells others how it is done. */
export function HandIn() {
  const { may } = useSession();
  const { run, busy } = useCommand();
  const input = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const [error, setError] = useState<unknown>(null);
  const take = async (file: File) => {
    setSaid("");
    setError(null);
    try {
      // The file goes out as it is: nothing of it is read here.
      const send = { body: file as unknown as string, bodySerializer: (b: unknown) => b as BodyInit, headers: { "Content-Type": "application/octet-stream" } };
      const r = await run("", () => got(api.POST("/v1/acknowledgments", send)));
      // The record it is about may be settled by it, and this form goes: what was done is said beside it.
      if (r.error) setSaid(sayAcks(r));
      else say(sayAcks(r));
    } catch (x) {
      setError(x);
    }
  };
  if (!may("acks.intake")) {
    return (
      <Text size="xs" c="dimmed" component="div">
        When the payer’s answer comes as a file, an operator hands it in here, or with <Code>claimdlq acks FILE</Code>.
      </Text>
    );
  }
  return (
    <div>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Acknowledgment file"
        onChange={(e) => {
          const f = e.currentTarget.files?.[0];
          e.currentTarget.value = "";
          if (f) void take(f);
        }}
      />
      <Button variant="default" size="sm" loading={busy} onClick={() => input.current?.click()}>
        Hand in an acknowledgment …
      </Button>
      <Text size="xs" c="dimmed" mt={4}>
        A file of the payer’s: 999, 277CA, TA1 or pharmacy responses.
      </Text>
      {said && (
        <Text size="sm" fw={600} role="status">
          {said}
        </Text>
      )}
      {error !== null && <Failure error={error} />}
    </div>
  );
}
