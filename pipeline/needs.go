package pipeline

// Needs are the resources that the stage until and those that lead to it hold while they
// run; "" is all stages. What a caller cannot give them is known before anything starts.
func (p *Plan) Needs(until string) map[string]bool {
	out := map[string]bool{}
	leads := p.leadsTo(until)
	for _, n := range p.order {
		if until != "" && !leads[n.info.Name] {
			continue
		}
		for name := range n.options.Needs {
			out[name] = true
		}
	}
	return out
}
