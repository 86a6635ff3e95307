import { Button, Group, Text, Textarea, type TextareaProps } from "@mantine/core";

interface Props extends Omit<TextareaProps, "value" | "onChange"> {
  value: string;
  onChange: (reason: string) => void;
  /** Reasons that are often given; one click takes one. */
  often?: string[];
}

/** Where somebody says why. It is in the audit log for good. */
export function ReasonField({ value, onChange, often, ...rest }: Props) {
  return (
    <>
      <Textarea label="Reason" description="For the audit log. It must name no patient." value={value} onChange={(e) => onChange(e.currentTarget.value)} maxLength={200} required autosize minRows={2} data-autofocus {...rest} />
      {often && (
        <Group gap={6}>
          <Text size="xs" c="dimmed">
            Often:
          </Text>
          {often.map((s) => (
            <Button key={s} size="compact-xs" variant="default" onClick={() => onChange(s)}>
              {s}
            </Button>
          ))}
        </Group>
      )}
    </>
  );
}
