package recipe

// SetStep lets a test end the work before a named step.
func (c *Config) SetStep(f func(string) error) { c.step = f }
