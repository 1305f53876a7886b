package pipeline

// Needs are the resources that the stages up to until hold while they run; "" is all
// stages. What a caller cannot give them is known before anything starts.
func (p *Plan) Needs(until string) map[string]bool {
	out := map[string]bool{}
	for _, n := range p.order {
		for name := range n.options.Needs {
			out[name] = true
		}
		if n.info.Name == until {
			break
		}
	}
	return out
}
