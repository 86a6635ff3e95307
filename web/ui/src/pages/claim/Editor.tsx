import { Alert, Badge, Box, Button, Grid, Group, Kbd, List, Stack, Text } from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Problem, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Diff, type DiffLine } from "@/parts/Diff";
import { Failure } from "@/parts/Failure";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { count, many, sentence } from "@/parts/words";
import { Changed } from "../record/Actions";
import { type Change, differences, type Doc, docOf, nextId, show, type ShownSeg } from "./model";
import type { Opened } from "./OpenForm";
import { counted, placeOf } from "./place";
import { SegmentTable, type Tools } from "./SegmentTable";
import { type Draft, useDraft } from "./useDraft";
import { useOthers } from "./useOthers";

interface Props {
  d: Schemas["RecordDetails"];
  opened: Opened;
  editable: boolean;
  busy: boolean;
  onSeal: (doc: Doc, changes: Change[]) => Promise<void>;
  onReopen: () => Promise<void>;
  /** Makes a recipe of the edits, for all records with this cause. */
  onSame: (doc: Doc, changes: Change[]) => void;
}

export function Editor({ d, opened, editable, busy, onSeal, onReopen, onSame }: Props) {
  const { view, reason } = opened;
  const doc = useMemo(() => docOf(view), [view]);
  const draft = useDraft(view.record, doc, reason);
  const findings = draft.proposal?.findings ?? view.findings;
  const { segs, loose } = useMemo(() => show(doc, draft.changes, findings), [doc, draft.changes, findings]);
  const { isOpen, toggle, all } = useOpen(segs);
  const [error, setError] = useState<unknown>(null);
  const others = useOthers(d.record);
  const body = useRef<HTMLDivElement>(null);
  useKeys(body, draft);
  useFocusNew(body, draft.changes);

  const changes = useRef(draft.changes);
  changes.current = draft.changes;
  const { set, drop } = draft;
  const tools = useMemo<Tools>(() => ({ rx: doc.rx, readOnly: !editable, set, drop, newId: () => nextId(changes.current) }), [doc.rx, editable, set, drop]);

  const attempt = async (f: () => Promise<void>) => {
    setError(null);
    try {
      await f();
    } catch (x) {
      setError(x);
    }
  };
  const moved = d.record.revision !== view.revision || (error instanceof Problem && error.status === 412);
  const clean = draft.proposal?.clean === true && !draft.asking && draft.error === null;
  return (
    <Grid gap="md" ref={body}>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Box className="sticky">
          <Group gap="xs" justify="space-between">
            <Group gap="xs">
              <Verdict n={findings.length} draft={draft} />
              <FaultSteps body={body} n={findings.length} />
            </Group>
            <Group gap="xs">
              <Button size="compact-sm" variant="default" onClick={all}>
                Show or hide all
              </Button>
              {editable && (
                <>
                  <Button title="Ctrl+Z" size="compact-sm" variant="default" disabled={!draft.canUndo} onClick={draft.undo}>
                    Undo
                  </Button>
                  <Button title="Ctrl+Shift+Z" size="compact-sm" variant="default" disabled={!draft.canRedo} onClick={draft.redo}>
                    Redo
                  </Button>
                  <Button size="compact-sm" disabled={!clean || moved} loading={busy} onClick={() => void attempt(() => onSeal(doc, draft.changes))}>
                    Seal as revision {view.payload_revision + 1}
                  </Button>
                  {draft.proposal !== null && !draft.asking && !moved && others + d.record.claims > 1 && (
                    <Button size="compact-sm" variant="light" onClick={() => onSame(doc, draft.changes)}>
                      {others > 0 ? `The same for all ${count(others + 1)} with this cause` : "The same for every claim of it"}
                    </Button>
                  )}
                </>
              )}
            </Group>
          </Group>
        </Box>
        {!editable && (
          <Text size="sm" c="dimmed" my="xs">
            You look at it only: {d.next.some((n) => n.action === "correct") ? "your role does not correct claims" : `a record that is ${d.record.state.replaceAll("_", " ")} is not corrected`}.
          </Text>
        )}
        {moved && (
          <Box my="sm">
            <Changed d={d} />
            <Button mt="xs" size="xs" variant="default" onClick={() => void attempt(onReopen)}>
              Open it as it is now, and keep my edits
            </Button>
          </Box>
        )}
        {error !== null && !(error instanceof Problem && error.status === 412) && <Failure error={error} />}
        {draft.error !== null && <Failure error={draft.error} />}
        {view.next !== undefined && (
          <Alert color="yellow" variant="light" my="xs" title={`The first ${count(view.segments.length)} of ${count(view.total)} segments`}>
            <Text size="sm">Single claims of a set are quicker to read: open the record of the claim.</Text>
          </Alert>
        )}
        <Segments segs={segs} isOpen={isOpen} toggle={toggle} tools={tools} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Stack className="beside">
          <Found findings={findings} loose={loose} body={body} />
          <Differences draft={draft} doc={doc} />
          <Why reason={reason} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

/** Which segments show their values: those with faults and those that somebody has touched or opened. The rest stays masked. */
function useOpen(segs: ShownSeg[]) {
  const [by, setBy] = useState<Map<string, boolean>>(new Map());
  const shown = useRef(new Set<string>());
  for (const s of segs) {
    if (s.faults.length > 0 || s.inserted || s.cells.some((c) => c.faults.length > 0 || c.changed) || (s.missing.length > 0 && s.code.startsWith("AM"))) shown.current.add(s.key);
  }
  const isOpen = (s: ShownSeg) => by.get(s.key) ?? shown.current.has(s.key);
  const toggle = useCallback((key: string) => setBy((m) => new Map(m).set(key, !(m.get(key) ?? shown.current.has(key)))), []);
  const all = () => {
    const open = segs.some((s) => !isOpen(s));
    setBy(new Map(segs.map((s) => [s.key, open])));
  };
  return { isOpen, toggle, all };
}

function Segments({ segs, isOpen, toggle, tools }: { segs: ShownSeg[]; isOpen: (s: ShownSeg) => boolean; toggle: (key: string) => void; tools: Tools }) {
  return (
    <Box role="group" aria-label="Segments">
      {segs.map((s) => (
        <SegmentTable key={s.key} s={s} open={isOpen(s)} tools={tools} onToggle={toggle} />
      ))}
    </Box>
  );
}

function Verdict({ n, draft }: { n: number; draft: Draft }) {
  const changed = draft.changes.length > 0;
  return (
    <Group gap={6} role="status">
      {n > 0 ? (
        <Badge color="red" variant="light" tt="none" className="badge">
          {many(n, "fault")}
        </Badge>
      ) : (
        <Badge color="green" variant="light" tt="none" className="badge">
          {changed ? "Clean: it can be sealed" : "No fault"}
        </Badge>
      )}
      {draft.asking && (
        <Text size="xs" c="dimmed">
          judging …
        </Text>
      )}
    </Group>
  );
}

function FaultSteps({ body, n }: { body: React.RefObject<HTMLDivElement | null>; n: number }) {
  if (n === 0) return null;
  return (
    <Group gap={4}>
      <Button title="Shift+F8, or p" size="compact-sm" variant="default" onClick={() => goToFault(body.current, -1)}>
        Previous fault
      </Button>
      <Button title="F8, or n" size="compact-sm" variant="default" onClick={() => goToFault(body.current, 1)}>
        Next fault
      </Button>
    </Group>
  );
}

let at = -1;
/** Takes the focus to the next or previous place with a fault. */
function goToFault(root: HTMLElement | null, by: 1 | -1, to?: number) {
  const all = [...(root?.querySelectorAll<HTMLElement>("[data-fault]") ?? [])];
  if (all.length === 0) return;
  const here = all.indexOf(document.activeElement as HTMLElement);
  at = to ?? ((here < 0 ? at : here) + by + all.length) % all.length;
  const target = all[Math.max(0, at) % all.length]!;
  target.focus();
  target.scrollIntoView({ block: "center" });
}

function useKeys(body: React.RefObject<HTMLDivElement | null>, draft: Draft) {
  const d = useRef(draft);
  d.current = draft;
  useEffect(() => {
    at = -1;
    const f = (e: KeyboardEvent) => {
      const typing = /^(INPUT|TEXTAREA)$/.test((e.target as HTMLElement).tagName);
      if (e.key === "F8" || (!typing && !e.ctrlKey && !e.metaKey && !e.altKey && (e.key === "n" || e.key === "p"))) {
        e.preventDefault();
        goToFault(body.current, e.key === "p" || e.shiftKey ? -1 : 1);
      } else if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z") {
        e.preventDefault();
        if (e.shiftKey) d.current.redo();
        else d.current.undo();
      }
    };
    document.addEventListener("keydown", f);
    return () => document.removeEventListener("keydown", f);
  }, [body]);
}

/** Takes the focus to what was just added, so that one goes on typing. */
function useFocusNew(body: React.RefObject<HTMLDivElement | null>, changes: Change[]) {
  const before = useRef(0);
  const newest = Math.max(0, ...changes.map((c) => (c.op === "insert" || c.op === "field" ? c.id : 0)));
  useEffect(() => {
    if (newest > before.current) {
      const made = changes.find((c) => (c.op === "insert" || c.op === "field") && c.id === newest);
      const box =
        made?.op === "field"
          ? [...(body.current?.querySelectorAll<HTMLInputElement>(".cells tr[data-changed] input") ?? [])].at(-1)
          : body.current?.querySelector<HTMLInputElement>(`[data-new="${newest}"]`);
      box?.focus();
      box?.setSelectionRange(box.value.length, box.value.length);
    }
    before.current = newest;
  }, [newest, body, changes]);
}

function Found({ findings, loose, body }: { findings: Schemas["Finding"][]; loose: Schemas["Finding"][]; body: React.RefObject<HTMLDivElement | null> }) {
  if (findings.length === 0) return null;
  return (
    <Section title="Faults">
      <List listStyleType="none" spacing={6}>
        {findings.slice(0, 50).map((f, i) => {
          const p = placeOf(f);
          return (
            <List.Item key={i}>
              <Text size="sm" fw={600}>
                {p.name || "The document"}
              </Text>
              <Text size="sm">
                {sentence(f.meaning ?? "")} <span className="mono">{f.code}</span>
              </Text>
              {f.hint && (
                <Text size="sm" c="dimmed">
                  {f.hint}
                </Text>
              )}
            </List.Item>
          );
        })}
      </List>
      {findings.length > 50 && <Text size="sm">{many(findings.length - 50, "more", "more")}.</Text>}
      {loose.length < findings.length && (
        <Text size="xs" c="dimmed" mt={6} component="div">
          <Kbd size="xs">F8</Kbd> goes to the next,{" "}
          <Button size="compact-xs" variant="subtle" onClick={() => goToFault(body.current, 1, 0)}>
            the first
          </Button>
        </Text>
      )}
    </Section>
  );
}

function Differences({ draft, doc }: { draft: Draft; doc: Doc }) {
  const p = draft.proposal;
  if (draft.changes.length === 0) return null;
  const line = (x: Schemas["Difference"]): DiffLine => {
    const place = placeOf(x);
    return { code: x.field ?? `${x.segment ?? ""}${x.element ?? ""}`, name: x.field_name || x.element_name || x.segment_name || place.where, before: x.before, after: x.after };
  };
  const own = (p?.differences ?? []).filter((x) => !counted(x));
  const system = (p?.differences ?? []).length - own.length;
  return (
    <Section title="What differs">
      {p ? (
        <>
          <Diff label="What differs" masked={own.map(line)} shown={differences(doc, draft.changes)} />
          {system > 0 && (
            <Text size="xs" c="dimmed">
              {many(system, "count is", "counts are")} set right by the system.
            </Text>
          )}
        </>
      ) : (
        <Text size="sm" c="dimmed">
          {draft.asking ? "Judging …" : "Nothing complete yet."}
        </Text>
      )}
    </Section>
  );
}

function Why({ reason }: { reason: string }) {
  const { session } = useSession();
  return (
    <Text size="xs" c="dimmed">
      Opened because “{reason}”. That is in the audit log.
      {session.elevated_until && (
        <>
          {" "}
          The glass is broken until <When t={session.elevated_until} />.
        </>
      )}
    </Text>
  );
}
