import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { newKey, Problem } from "@/api/client";
import { say } from "./notices";

/**
 * Runs a command once for each time a person means it: a second click while it runs does nothing, and the same
 * command sent again after a lost connection bears the same Idempotency-Key. Afterwards everything shown is read anew.
 */
export function useCommand() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const key = useRef("");
  const run = useCallback(
    async <T>(said: string, f: (key: string) => Promise<T>): Promise<T> => {
      if (running.current) throw new Problem(409, { code: "conflict", detail: "It is under way." });
      running.current = true;
      setBusy(true);
      key.current ||= newKey();
      try {
        const out = await f(key.current);
        key.current = "";
        if (said) say(said);
        return out;
      } catch (e) {
        // A lost answer keeps the key: the same command again gets the first one's answer.
        if (!(e instanceof Problem && e.status === 0)) key.current = "";
        throw e;
      } finally {
        running.current = false;
        setBusy(false);
        void client.invalidateQueries();
      }
    },
    [client],
  );
  return { run, busy };
}
