import { Alert, Button, Group, List, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Problem } from "@/api/client";

const titles: Record<string, string> = {
  invalid: "That is not right",
  not_found: "There is no such thing",
  conflict: "Somebody else came first",
  refused: "Refused",
  corrupt: "Stored data is damaged",
  unavailable: "Not possible just now",
  internal: "Something went wrong",
};

/** Says what went wrong, what became of the data, and what to do next. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const p = error instanceof Problem ? error : null;
  const title = p?.status === 403 ? "You may not do that" : (titles[p?.code ?? "internal"] ?? "Something went wrong");
  return (
    <Alert role="alert" color="red" variant="light" icon={<IconAlertTriangle aria-hidden />} title={title}>
      <Text size="sm">{p ? sentence(p.detail) : "The page has failed. Load it again; nothing was changed."}</Text>
      {p?.hint && (
        <Text size="sm" mt={4}>
          {sentence(p.hint)}
        </Text>
      )}
      {p && p.faults.length > 0 && (
        <List size="sm" mt={4}>
          {p.faults.map((f, i) => (
            <List.Item key={i}>
              {f.location ? `${f.location}: ` : ""}
              {f.message}
            </List.Item>
          ))}
        </List>
      )}
      {onRetry && (
        <Group mt="sm">
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  );
}

function sentence(s: string): string {
  if (!s) return "";
  const t = s.charAt(0).toUpperCase() + s.slice(1);
  return /[.!?:]$/.test(t) ? t : `${t}.`;
}
