package sandbox

// Filled is l with the defaults in place of its zero fields. CPUs of zero stay
// zero: no bound of ours.
func (l Limits) Filled() Limits {
	fill(&l.Memory, DefaultMemory)
	fill(&l.Processes, DefaultProcs)
	fill(&l.Disk, DefaultDisk)
	fill(&l.Output, DefaultOutput)
	fill(&l.Timeout, DefaultTimeout)
	return l
}

func fill[T ~int | ~int64](field *T, standard T) {
	if *field <= 0 {
		*field = standard
	}
}

// CollectMax is the bound of what is collected, in bytes, or the default where none is asked for.
func CollectMax(asked int64) int64 {
	if asked <= 0 {
		return DefaultCollect
	}
	return asked
}
