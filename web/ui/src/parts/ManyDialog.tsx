import { Button, Group, List, Modal, Progress, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { newKey, Problem } from "@/api/client";
import { ReasonField } from "./ReasonField";
import { count, many } from "./words";

export interface One {
  id: number;
  revision: number;
}

interface Props {
  title: string;
  verb: string;
  items: One[];
  children?: ReactNode;
  suggestions?: string[];
  /** No reason is asked for. */
  noReason?: boolean;
  onClose: () => void;
  /** Runs the command on one and says what became of it. */
  run: (one: One, reason: string, key: string) => Promise<string>;
}

interface Outcome {
  id: number;
  said: string;
  failed: boolean;
}

const atOnce = 3;
const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

/** Runs one command on many records, each by itself, and says what became of each. It can be stopped between two. */
export function ManyDialog(p: Props) {
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  const [outcomes, setOutcomes] = useState<Outcome[]>([]);
  const [running, setRunning] = useState(false);
  const [total, setTotal] = useState(0);
  const stop = useRef(false);
  // The same command sent again after a lost answer bears the same key.
  const keys = useRef(new Map<number, string>());

  const one = async (x: One): Promise<Outcome> => {
    for (let tries = 0; ; tries++) {
      const key = keys.current.get(x.id) ?? newKey();
      keys.current.set(x.id, key);
      try {
        const said = await p.run(x, reason.trim(), key);
        return { id: x.id, said, failed: false };
      } catch (e) {
        if (e instanceof Problem && e.status === 429 && tries < 30 && !stop.current) {
          await wait(1000);
          continue;
        }
        if (!(e instanceof Problem && e.status === 0)) keys.current.delete(x.id);
        return { id: x.id, said: sayProblem(e), failed: true };
      }
    }
  };
  const start = async (items: One[]) => {
    setRunning(true);
    stop.current = false;
    const again = new Set(items.map((x) => x.id));
    setOutcomes((os) => os.filter((o) => !again.has(o.id)));
    setTotal(p.items.length);
    const rest = [...items];
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let x = rest.shift(); x && !stop.current; x = rest.shift()) {
          const o = await one(x);
          setOutcomes((os) => [...os, o]);
        }
      }),
    );
    setRunning(false);
    void client.invalidateQueries();
  };
  const begun = total > 0;
  const failed = outcomes.filter((o) => o.failed);
  const sums = new Map<string, number>();
  for (const o of outcomes) sums.set(o.said, (sums.get(o.said) ?? 0) + 1);
  const left = p.items.filter((x) => !outcomes.some((o) => o.id === x.id));
  return (
    <Modal opened onClose={() => (running ? undefined : p.onClose())} title={p.title} size="lg" closeOnClickOutside={!running} withCloseButton={!running}>
      <form
        onSubmit={(e: FormEvent) => {
          e.preventDefault();
          if (!running) void start(p.items);
        }}
      >
        <Stack>
          {p.children}
          {!p.noReason && !begun && <ReasonField description="For the audit log, with each of them. It must name no patient." value={reason} onChange={setReason} often={p.suggestions} />}
          {begun && (
            <>
              <Progress value={(outcomes.length / total) * 100} aria-label={`${outcomes.length} of ${total} done`} />
              <Text size="sm" role="status" className="figure">
                {count(outcomes.length)} of {count(total)} done{failed.length > 0 ? `, ${count(failed.length)} of them not` : ""}.
              </Text>
              <List size="sm" spacing={2}>
                {[...sums].map(([said, n]) => (
                  <List.Item key={said}>
                    {said}: {many(n, "record")}
                    {n <= 5 && <Which ids={outcomes.filter((o) => o.said === said).map((o) => o.id)} />}
                  </List.Item>
                ))}
              </List>
            </>
          )}
          <Group justify="flex-end">
            {running ? (
              <Button variant="default" onClick={() => (stop.current = true)}>
                Stop
              </Button>
            ) : (
              <Button variant="default" onClick={p.onClose}>
                {begun ? "Close" : "Cancel"}
              </Button>
            )}
            {begun && !running && failed.length + left.length > 0 && (
              <Button onClick={() => void start(p.items.filter((x) => !outcomes.some((o) => o.id === x.id && !o.failed)))}>Try the rest again</Button>
            )}
            {!begun && (
              <Button type="submit" disabled={!p.noReason && reason.trim() === ""}>
                {p.verb}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Which({ ids }: { ids: number[] }) {
  return (
    <Text span size="sm" c="dimmed">
      {" "}
      ({ids.join(", ")})
    </Text>
  );
}

/** A problem in one line. */
export function sayProblem(e: unknown): string {
  if (!(e instanceof Problem)) return "It has failed";
  if (e.status === 412) return "Somebody else changed it meanwhile: look again";
  if (e.status === 403) return "You may not";
  return e.hint ? `Not done: ${e.hint}` : e.detail || "Not done";
}
