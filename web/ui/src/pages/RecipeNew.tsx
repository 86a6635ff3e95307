import { Alert, Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { type FormEvent, useEffect, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { parse, reasons } from "@/parts/filter";
import { Page } from "@/parts/Page";
import { ReasonField } from "@/parts/ReasonField";
import { Section } from "@/parts/Section";
import { useCommand } from "@/parts/useCommand";
import { useGroups } from "@/parts/useGroups";
import { many, name } from "@/parts/words";
import { clear, type Draft, give, peek, type Which } from "./recipes/handoff";
import { RuleFields, RxRuleFields } from "./recipes/RuleFields";
import { complete, completeRx } from "./recipes/say";

const crumbs = [{ label: "Recipes", href: "/recipes" }];

/** A recipe that is being made: from the edits of a claim, or by hand. Its values are in this component only. */
export default function RecipeNew() {
  const { may } = useSession();
  if (!may("record.correct")) {
    return (
      <Page title="New recipe" crumbs={crumbs}>
        <Empty title="Your role does not correct claims">Analysts do.</Empty>
      </Page>
    );
  }
  return <Maker />;
}

function fresh(search: string): Draft {
  const f = parse(search);
  const which: Which = {
    state: "quarantined",
    stream: f.stream === "ncpdp" ? "ncpdp" : "837",
    ...(f.reason && { reason: f.reason as Which["reason"] }),
    ...(f.detail && { detail: f.detail }),
    ...(f.partner && { partner: f.partner }),
    ...(f.older_than && { older_than: f.older_than }),
  };
  return { which, reason: "", rules: which.stream === "837" ? [{ op: "set", segment: "" }] : [], rx_rules: which.stream === "ncpdp" ? [{ op: "set" }] : [] };
}

/** How many quarantined records a selection names, as far as the causes tell. */
function useNamed(w: Which): number | undefined {
  const groups = useGroups({ older_than: w.older_than }).data?.groups;
  return groups
    ?.filter(
      (g) => g.state === "quarantined" && (!w.stream || g.stream === w.stream) && (!w.reason || g.reason_code === w.reason) && (!w.detail || g.error_detail === w.detail) && (!w.partner || g.partner === w.partner),
    )
    .reduce((n, g) => n + g.records, 0);
}

function Maker() {
  const search = useSearch();
  const [, go] = useLocation();
  const { run, busy } = useCommand();
  const [d, setD] = useState<Draft>(() => peek() ?? fresh(search));
  const [error, setError] = useState<unknown>(null);
  useEffect(clear, []);
  const n = useNamed(d.which);
  const rx = d.which.stream === "ncpdp";
  const ready = (rx ? d.rx_rules.length > 0 && d.rx_rules.every(completeRx) : d.rules.length > 0 && d.rules.every(complete)) && d.reason.trim() !== "" && n !== 0;

  const preview = async (e: FormEvent) => {
    e.preventDefault();
    if (busy || !ready) return;
    setError(null);
    try {
      const body = { reason: d.reason.trim(), filter: d.which, ...(rx ? { rx_rules: d.rx_rules } : { rules: d.rules }) };
      const r = await run("", (key) => got(api.POST("/v1/recipes:preview", { params: { header: { "Idempotency-Key": key } }, body })));
      give(d);
      go(`/recipes/${r.id}`);
    } catch (x) {
      setError(x);
    }
  };
  return (
    <Page title="New recipe" crumbs={crumbs} about="One correction for many records. Nothing is changed before you have seen what it makes of each.">
      <form onSubmit={(e) => void preview(e)}>
        <Stack>
          {d.from !== undefined && (
            <Alert variant="light" title={`From what you did to record ${d.from}`}>
              <Text size="sm">What you replaced there is replaced in the others only where the same value stands. Change a rule to “Set” to write over whatever is there.</Text>
            </Alert>
          )}
          <Selected which={d.which} n={n} onChange={(which) => setD(withRules({ ...d, which }))} />
          <Section title="What is corrected in each">
            <Stack gap="xs">
              {rx
                ? d.rx_rules.map((u, i) => (
                    <RxRuleFields key={i} n={i + 1} u={u} onChange={(x) => setD({ ...d, rx_rules: put(d.rx_rules, i, x) })} onRemove={() => setD({ ...d, rx_rules: without(d.rx_rules, i) })} />
                  ))
                : d.rules.map((u, i) => <RuleFields key={i} n={i + 1} u={u} onChange={(x) => setD({ ...d, rules: put(d.rules, i, x) })} onRemove={() => setD({ ...d, rules: without(d.rules, i) })} />)}
              <Group>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconPlus size={14} />}
                  onClick={() => setD(rx ? { ...d, rx_rules: [...d.rx_rules, { op: "set" }] } : { ...d, rules: [...d.rules, { op: "set", segment: "" }] })}
                >
                  Another rule
                </Button>
              </Group>
            </Stack>
          </Section>
          <ReasonField description="For the audit log, with each document that is opened to be judged. It must name no patient." value={d.reason} onChange={(reason) => setD({ ...d, reason })} maxLength={150} />
          {error !== null && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={busy} disabled={!ready}>
              Preview{n ? ` on ${many(n, "record")}` : ""}
            </Button>
            {busy && (
              <Text size="sm" c="dimmed" role="status">
                Each document is opened and judged; nobody is shown a value.
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Page>
  );
}

const put = <T,>(all: T[], i: number, x: T): T[] => all.map((y, k) => (k === i ? x : y));
const without = <T,>(all: T[], i: number): T[] => all.filter((_, k) => k !== i);

/** Rules are of one stream: where it changes, there is one to begin with. */
function withRules(d: Draft): Draft {
  if (d.which.stream === "ncpdp") return d.rx_rules.length > 0 ? d : { ...d, rx_rules: [{ op: "set" }] };
  return d.rules.length > 0 ? d : { ...d, rules: [{ op: "set", segment: "" }] };
}

function Selected({ which, n, onChange }: { which: Which; n?: number; onChange: (w: Which) => void }) {
  const put = (more: Partial<Schemas["WhichMatch"]>) => onChange({ ...which, ...more });
  return (
    <Section title="Which records" more={n !== undefined && <Text className="figure">{many(n, "record")} in quarantine</Text>}>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="xs">
        <NativeSelect
          size="xs"
          label="Stream"
          value={which.stream}
          onChange={(e) => put({ stream: e.currentTarget.value as Which["stream"] })}
          data={[
            { value: "837", label: name("837") },
            { value: "ncpdp", label: name("ncpdp") },
          ]}
        />
        <NativeSelect
          size="xs"
          label="Reason of quarantine"
          value={which.reason ?? ""}
          onChange={(e) => put({ reason: (e.currentTarget.value || undefined) as Which["reason"] })}
          data={[{ value: "", label: "Any" }, ...reasons.map((r) => ({ value: r, label: name(r) }))]}
        />
        <TextInput size="xs" label="Code" placeholder="any" value={which.detail ?? ""} onChange={(e) => put({ detail: e.currentTarget.value.toUpperCase() || undefined })} classNames={{ input: "mono" }} />
        <TextInput size="xs" label="Partner" placeholder="any" value={which.partner ?? ""} onChange={(e) => put({ partner: e.currentTarget.value || undefined })} classNames={{ input: "mono" }} />
      </SimpleGrid>
    </Section>
  );
}
